(* What the scripts of Gappa suppose of ln 2, and of what series leave. Written by `make proofs`. *)
From Coq Require Import Reals.
From Interval Require Import Tactic.
Open Scope R_scope.
Lemma ln_2_in_two_parts : Rabs (ln 2 - (((2977044471 / 4294967296)) + ((3691024475790907 / 19342813113834066795298816)))) <= ((1 / 77371252455336267181195264)).
Proof. interval with (i_prec 140). Qed.
Print Assumptions ln_2_in_two_parts.
Lemma ln_2_rounded : Rabs (ln 2 - ((6243314768165359 / 9007199254740992))) <= ((1 / 18014398509481984)).
Proof. interval with (i_prec 100). Qed.
Print Assumptions ln_2_rounded.
Lemma minus_ln : forall s, Rabs s <= ((6181564323363875 / 36028797018963968)) -> Rabs (ln ((1 + s) / (1 - s)) - 2 * s * (/ 1 + (s * s) * (/ 3 + (s * s) * (/ 5 + (s * s) * (/ 7 + (s * s) * (/ 9 + (s * s) * (/ 11 + (s * s) * (/ 13 + (s * s) * (/ 15 + (s * s) * (/ 17 + (s * s) * / 19)))))))))) <= ((2669610302963455 / 324518553658426726783156020576256)).
Proof. intros s small. interval with (i_taylor s, i_degree 30, i_prec 140, i_bisect s, i_depth 8). Qed.
Print Assumptions minus_ln.
Lemma rough_minus_ln : forall s, Rabs s <= ((6181564323363875 / 36028797018963968)) -> Rabs (ln ((1 + s) / (1 - s)) - 2 * s * (/ 1 + (s * s) * (/ 3 + (s * s) * (/ 5 + (s * s) * / 7)))) <= ((1114425968629493 / 37778931862957161709568)).
Proof. intros s small. interval with (i_taylor s, i_degree 30, i_prec 140, i_bisect s, i_depth 8). Qed.
Print Assumptions rough_minus_ln.
Lemma minus_ln_1p : forall t, Rabs t <= / 32 -> Rabs (- ln (1 + t) - t * ((-1 / 1) + t * ((17179869185 / 34359738368) + t * ((-34359738373 / 103079215104) + t * ((8388603 / 33554432) + t * ((-16777201 / 83886080) + t * ((2051 / 12288) + t * (-4103 / 28672)))))))) <= ((2524396726616645 / 1267650600228229401496703205376)).
Proof. intros t small. interval with (i_taylor t, i_degree 16, i_prec 100, i_bisect t, i_depth 8). Qed.
Print Assumptions minus_ln_1p.
Lemma exp : forall f, Rabs f <= ((1561397990809351 / 4503599627370496)) -> Rabs (exp f - (1 + f * (/ 1 + f * (/ 2 + f * (/ 6 + f * (/ 24 + f * (/ 120 + f * (/ 720 + f * (/ 5040 + f * (/ 40320 + f * (/ 362880 + f * (/ 3628800 + f * (/ 39916800 + f * (/ 479001600 + f * / 6227020800)))))))))))))) <= ((5525871380535823 / 1298074214633706907132624082305024)).
Proof. intros f small. interval with (i_taylor f, i_degree 24, i_prec 140, i_bisect f, i_depth 8). Qed.
Print Assumptions exp.
Lemma narrow_table : forall t, Rabs t <= ((262145 / 8388608)) -> Rabs (- ln (1 + t) - t * ((- (1 / 1)) + t * (((4505851427184181 / 9007199254740992)) + t * (- (6004799503160661 / 18014398509481984))))) <= ((6600588203864883 / 75557863725914323419136)).
Proof. intros t small. interval with (i_taylor t, i_degree 10, i_prec 80, i_bisect t, i_depth 8). Qed.
Print Assumptions narrow_table.
