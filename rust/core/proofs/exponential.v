(* The fixed-point exponential of the exact path (rust/core/src/exact/exp.rs), on integers of any length: [power] is the program.

   [power_encloses]   what it computes is at most e^(-x), in units of the last limb and of 2^-n, and short of it by at most [width];
   [reduction_fits]   the reduced exponent is not negative and has no integer part, for the n that the approximation gives;
   [sum_fits]         no sum of the series overflows its integer limb.

   Left to hand: that limbs are these integers (tests of `limbs`), and that the approximation of x/ln 2 is within 2^-27. *)

From Coq Require Import ZArith Reals Lia Lra Psatz.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Open Scope Z_scope.

(* ---- the program, line by line *)

(* mul_floor: a product of numbers with p limbs of fraction *)
Definition mul_floor (p a b : Z) := a * b / 2 ^ (64 * p).

(* c.leading_zeros() <= 1 + k.ilog2(), for 0 < c < 2^64 *)
Definition full (c k : Z) := 63 - Z.log2 c <=? 1 + Z.log2 k.

Definition step (p t k : Z) (state : Z * Z) :=
  let (sum, c) := state in
  let sum := mul_floor p sum t in
  let (sum, c) := if full c k then (sum / c, 1) else (sum, c) in
  (sum + c * k * 2 ^ (64 * p), c * k).

(* for k in (1..=terms).rev() *)
Fixpoint steps (p t : Z) (terms : nat) (state : Z * Z) :=
  match terms with
  | O => state
  | S less => steps p t less (step p t (Z.of_nat terms) state)
  end.

Definition taylor (p t : Z) (terms : nat) :=
  let (sum, c) := steps p t terms (2 ^ (64 * p), 1) in sum / c.

Fixpoint squared (p : Z) (halvings : nat) (value : Z) :=
  match halvings with
  | O => value
  | S less => squared p less (mul_floor p value value)
  end.

Definition reduced (ln2 x n : Z) := n * ln2 - (x + 1).

Definition power (p ln2 : Z) (halvings terms : nat) (x n : Z) :=
  squared p halvings (taylor p (reduced ln2 x n / 2 ^ Z.of_nat halvings) terms).

Definition width (n : Z) (halvings : nat) := 6 * (2 * n + 1) + 24 * 2 ^ Z.of_nat halvings.

(* Bits of the k-th term that are certainly zero: k h + log2 2 + ... + log2 k, each rounded down. *)
Fixpoint bits (h : Z) (k : nat) :=
  match k with
  | O => 0
  | S less => bits h less + h + Z.log2 (Z.of_nat k)
  end.

Open Scope R_scope.

(* ---- floors *)

Lemma floor_of a b : (0 < b)%Z -> IZR a / IZR b - 1 < IZR (a / b) <= IZR a / IZR b.
Proof.
  intros positive.
  assert (0 < IZR b) by now apply IZR_lt.
  pose proof (Z.div_mod a b ltac:(lia)) as whole.
  pose proof (Z.mod_pos_bound a b positive) as rest.
  apply (f_equal IZR) in whole. rewrite plus_IZR, mult_IZR in whole.
  assert (0 <= IZR (a mod b) < IZR b) by (split; [apply IZR_le | apply IZR_lt]; lia).
  assert (IZR a / IZR b = IZR (a / b) + IZR (a mod b) / IZR b) as -> by (rewrite whole at 1; field; lra).
  assert (0 <= IZR (a mod b) / IZR b < 1); [split|].
  - apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat.
  - apply (Rmult_lt_reg_r (IZR b)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - lra.
Qed.

(* ---- the series *)

(* j brackets around b: what the loop leaves to do *)
Fixpoint brackets (t : R) (j : nat) (b : R) :=
  match j with
  | O => b
  | S less => brackets t less (1 + t / INR j * b)
  end.

Lemma brackets_are_a_sum t j b :
  brackets t (S j) b = sum_f_R0 (fun i => t ^ i / INR (fact i)) j + t ^ (S j) / INR (fact (S j)) * b.
Proof.
  revert b. induction j as [|j IH]; intros b.
  - simpl. field.
  - change (brackets t (S (S j)) b) with (brackets t (S j) (1 + t / INR (S (S j)) * b)).
    rewrite IH, tech5.
    replace (t ^ S (S j) / INR (fact (S (S j)))) with (t ^ S j / INR (fact (S j)) * (t / INR (S (S j)))).
    + ring.
    + rewrite (fact_simpl (S j)), mult_INR. simpl (t ^ S (S j)). simpl (t ^ S j). field.
      split; [apply INR_fact_neq_0 | apply not_0_INR; lia].
Qed.

Lemma derive_n_exp n x : Derive_n exp n x = exp x.
Proof.
  revert x. induction n as [|n IH]; intros x; [reflexivity|].
  simpl. rewrite (Derive_ext _ exp) by exact IH.
  apply is_derive_unique, is_derive_exp.
Qed.

Lemma ex_derive_n_exp n x : ex_derive_n exp n x.
Proof.
  destruct n as [|n]; [exact I|]. simpl.
  apply (ex_derive_ext exp); [intros; now rewrite derive_n_exp|].
  exists (exp x). apply is_derive_exp.
Qed.

Lemma exp_of_at_most_one x : x <= 1 -> exp x <= 3.
Proof. intros. apply Rle_trans with (exp 1); [|apply exp_le_3]. destruct (Req_dec x 1) as [->|]; [lra|]. left. apply exp_increasing. lra. Qed.

(* exp x <= 1 + 2 x, for small x *)
Lemma exp_of_small x : 0 <= x <= 1 / 2 -> exp x <= 2.
Proof.
  intros. apply Rsqr_incr_0; [|left; apply exp_pos|lra]. unfold Rsqr. rewrite <- exp_plus.
  apply Rle_trans with 3; [|lra]. apply exp_of_at_most_one. lra.
Qed.

(* What the series leaves is less than twice the first term left out. *)
Lemma series_of_exp t n :
  0 <= t <= 1 / 2 ->
  let sum := sum_f_R0 (fun i => t ^ i / INR (fact i)) n in
  sum <= exp t <= sum + 2 * (t ^ S n / INR (fact (S n))).
Proof.
  intros small sum. split.
  - apply exp_ge_taylor. lra.
  - destruct (Req_dec t 0) as [zero|].
    + subst sum t. rewrite exp_0.
      assert (1 <= sum_f_R0 (fun i => 0 ^ i / INR (fact i)) n).
      { clear. induction n as [|n IH]; [simpl; lra|]. rewrite tech5. simpl (0 ^ S n). unfold Rdiv at 2. lra. }
      simpl. lra.
    + destruct (Taylor_Lagrange exp n 0 t) as (zeta & inside & ->); [lra|intros; apply ex_derive_n_exp|].
      rewrite Rminus_0_r, derive_n_exp.
      apply Rplus_le_compat.
      * right. apply sum_eq. intros. rewrite derive_n_exp, exp_0. ring.
      * rewrite Rmult_comm. apply Rmult_le_compat_r.
        -- apply Rmult_le_pos; [apply pow_le; lra|]. left. apply Rinv_0_lt_compat, INR_fact_lt_0.
        -- apply exp_of_small. lra.
Qed.

Section Series.
Variables (p : Z) (h : nat) (t : Z).
Let unit := IZR (2 ^ (64 * p)).
Let tau := IZR t / unit.
Hypothesis p_positive : (0 <= p)%Z.
Hypothesis small : 0 <= tau <= / 256.

Lemma unit_positive : 0 < unit.
Proof. apply IZR_lt. apply Z.pow_pos_nonneg; lia. Qed.

(* The sum is at most c beta units, and short of them by less than 1.6. *)
Definition near (beta : R) (state : Z * Z) :=
  let (sum, c) := state in
  (1 <= c)%Z /\ IZR c * beta * unit - 1.6 <= IZR sum <= IZR c * beta * unit.

Lemma mul_floor_near a b : IZR a * (IZR b / unit) - 1 < IZR (mul_floor p a b) <= IZR a * (IZR b / unit).
Proof.
  unfold mul_floor. pose proof unit_positive.
  pose proof (floor_of (a * b) (2 ^ (64 * p)) ltac:(apply lt_IZR; assumption)) as bounds.
  rewrite mult_IZR in bounds. fold unit in bounds.
  replace (IZR a * (IZR b / unit)) with (IZR a * IZR b / unit) by (field; lra). lra.
Qed.

Lemma step_near beta k state :
  (1 <= k < 2 ^ 62)%Z -> 0 <= beta ->
  near beta state -> near (1 + tau / IZR k * beta) (step p t k state).
Proof.
  intros k_range beta_positive. destruct state as [sum c]. intros (c_positive & low & high).
  pose proof unit_positive as positive.
  assert (1 <= IZR k) as k_real by (apply IZR_le; lia).
  assert (1 <= IZR c) as c_real by (apply IZR_le; lia).
  pose proof (mul_floor_near sum t) as product. fold tau in product.
  set (next := mul_floor p sum t) in *.
  assert (IZR c * (tau * beta) * unit - 1.6 / 256 - 1 < IZR next <= IZR c * (tau * beta) * unit) as whole.
  { split.
    - apply Rle_lt_trans with (IZR sum * tau - 1); [|lra].
      apply Rle_trans with ((IZR c * beta * unit - 1.6) * tau - 1); [|apply Rplus_le_compat_r, Rmult_le_compat_r; lra].
      assert (1.6 * tau <= 1.6 / 256) by lra. lra.
    - apply Rle_trans with (IZR sum * tau); [lra|].
      apply Rle_trans with (IZR c * beta * unit * tau); [apply Rmult_le_compat_r; lra|]. lra. }
  unfold step. fold next. fold unit.
  destruct (full c k) eqn:is_full.
  - assert (2 <= c)%Z.
    { unfold full in is_full. apply Z.leb_le in is_full.
      assert (Z.log2 k < 62)%Z by (apply Z.log2_lt_pow2; lia).
      destruct (Z.eq_dec c 1) as [->|]; [|lia]. rewrite Z.log2_1 in is_full. lia. }
    assert (2 <= IZR c) by (apply IZR_le; lia).
    split; [lia|].
    rewrite plus_IZR, !mult_IZR. fold unit.
    replace (1 * IZR k * (1 + tau / IZR k * beta) * unit) with (tau * beta * unit + IZR k * unit) by (field; lra).
    pose proof (floor_of next c ltac:(lia)) as quotient.
    assert (tau * beta * unit - 0.55 <= IZR next / IZR c <= tau * beta * unit) as whole'.
    { split.
      - apply (Rmult_le_reg_r (IZR c)); [lra|]. replace (IZR next / IZR c * IZR c) with (IZR next) by (field; lra). nra.
      - apply (Rmult_le_reg_r (IZR c)); [lra|]. replace (IZR next / IZR c * IZR c) with (IZR next) by (field; lra). nra. }
    rewrite Rmult_1_l. lra.
  - split; [lia|].
    rewrite plus_IZR, !mult_IZR. fold unit.
    replace (IZR c * IZR k * (1 + tau / IZR k * beta) * unit) with (IZR c * (tau * beta) * unit + IZR c * IZR k * unit) by (field; lra).
    lra.
Qed.

Lemma brackets_positive beta k : 1 <= k -> 0 <= beta -> 0 <= 1 + tau / k * beta.
Proof.
  intros. assert (0 <= tau / k * beta); [|lra].
  apply Rmult_le_pos; [|assumption]. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
Qed.

Lemma steps_near terms beta state :
  (Z.of_nat terms < 2 ^ 62)%Z -> 0 <= beta ->
  near beta state -> near (brackets tau terms beta) (steps p t terms state).
Proof.
  revert beta state. induction terms as [|less IH]; intros beta state few positive is_near; [exact is_near|].
  cbn [steps brackets]. rewrite INR_IZR_INZ.
  apply IH; [lia| |].
  - apply brackets_positive; [apply IZR_le; lia|assumption].
  - apply step_near; [lia|assumption|assumption].
Qed.

(* What the series leaves is less than a unit, and then as much again. *)
Lemma taylor_near terms :
  (0 < terms)%nat -> (Z.of_nat terms < 2 ^ 62)%Z ->
  tau ^ S terms / INR (fact (S terms)) * unit <= 1 ->
  exp tau * unit - 5 < IZR (taylor p t terms) <= exp tau * unit.
Proof.
  intros some few left_out. pose proof unit_positive as positive.
  assert (near 1 (2 ^ (64 * p), 1)%Z) as begin by (unfold near; fold unit; split; [lia|lra]).
  pose proof (steps_near terms 1 _ few ltac:(lra) begin) as after.
  destruct terms as [|less]; [lia|].
  rewrite brackets_are_a_sum in after.
  replace (tau ^ S less / INR (fact (S less)) * 1) with (tau ^ S less / INR (fact (S less))) in after by ring.
  change (sum_f_R0 (fun i => tau ^ i / INR (fact i)) less + tau ^ S less / INR (fact (S less)))
    with (sum_f_R0 (fun i => tau ^ i / INR (fact i)) (S less)) in after.
  destruct (series_of_exp tau (S less) ltac:(lra)) as [below above].
  set (partial := sum_f_R0 _ (S less)) in *. set (rest := tau ^ S (S less) / _) in *.
  unfold taylor. destruct (steps p t (S less) _) as [sum c]. destruct after as (c_positive & low & high).
  assert (1 <= IZR c) by (apply IZR_le; lia).
  pose proof (floor_of sum c ltac:(lia)) as quotient.
  assert (partial * unit - 1.6 <= IZR sum / IZR c <= partial * unit).
  { split; apply (Rmult_le_reg_r (IZR c)); try lra; replace (IZR sum / IZR c * IZR c) with (IZR sum) by (field; lra); nra. }
  assert (partial * unit <= exp tau * unit) by (apply Rmult_le_compat_r; lra).
  assert (exp tau * unit <= (partial + 2 * rest) * unit) by (apply Rmult_le_compat_r; lra).
  lra.
Qed.
End Series.

(* ---- squaring *)

Section Squaring.
Variable p : Z.
Hypothesis p_positive : (0 <= p)%Z.
Let unit := IZR (2 ^ (64 * p)).

(* y is at most e^x units, and short of it by at most d. *)
Lemma squared_near halvings : forall x d y,
  0 <= x -> 0 <= d -> 0 <= IZR y ->
  exp x * unit - d <= IZR y <= exp x * unit ->
  let scale := 2 ^ halvings in
  exp (x * scale) * unit - (scale * (d + 1) * exp (x * (scale - 1)) - 1) <= IZR (squared p halvings y) <= exp (x * scale) * unit.
Proof.
  assert (0 < unit) as positive by (apply unit_positive; assumption).
  induction halvings as [|less IH]; intros x d y x_positive d_positive y_positive [low high] scale.
  - subst scale. simpl. rewrite Rmult_1_r. replace (x * (1 - 1)) with 0 by ring. rewrite exp_0. lra.
  - pose proof (mul_floor_near p p_positive y y) as square. cbv zeta in square. fold unit in square.
    assert (exp (2 * x) = exp x * exp x) as twice by (rewrite <- exp_plus; f_equal; ring).
    assert (1 <= exp x) as at_least by (rewrite <- exp_0; destruct (Req_dec x 0) as [->|]; [lra|left; apply exp_increasing; lra]).
    assert (0 <= IZR (mul_floor p y y)) as next_positive.
    { apply IZR_le. unfold mul_floor. apply Z.div_pos; [|apply Z.pow_pos_nonneg; lia].
      apply le_IZR in y_positive. nia. }
    (* e^x - d/unit <= y/unit <= e^x *)
    set (v := IZR y / unit) in *.
    assert (IZR y = v * unit) as of_v by (unfold v; field; lra).
    assert (exp (2 * x) * unit - (2 * exp x * d + 1) <= IZR (mul_floor p y y) <= exp (2 * x) * unit) as next.
    { rewrite twice. rewrite of_v in low, high.
      assert (v <= exp x) by (apply (Rmult_le_reg_r unit); lra).
      assert (0 <= v) by (unfold v; apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
      assert (exp x * unit - v * unit <= d) by lra.
      rewrite of_v in square. split.
      - apply Rle_trans with (v * unit * v - 1); [|lra].
        assert ((exp x * unit - v * unit) * (exp x + v) <= d * (2 * exp x)) by (apply Rmult_le_compat; nra). nra.
      - apply Rle_trans with (v * unit * v); [lra|]. nra. }
    specialize (IH (2 * x) (2 * exp x * d + 1) (mul_floor p y y) ltac:(lra) ltac:(nra) next_positive next).
    cbv zeta in IH. cbn [squared]. subst scale. simpl (2 ^ S less).
    replace (x * (2 * 2 ^ less)) with (2 * x * 2 ^ less) by ring.
    set (smaller := 2 ^ less) in *.
    assert (1 <= smaller) by (apply pow_R1_Rle; lra).
    replace (x * (2 * smaller - 1)) with (2 * x * (smaller - 1) + x) by ring.
    rewrite exp_plus.
    assert (0 < exp (2 * x * (smaller - 1))) by apply exp_pos.
    assert (smaller * (2 * exp x * d + 1 + 1) * exp (2 * x * (smaller - 1))
            <= 2 * smaller * (d + 1) * (exp (2 * x * (smaller - 1)) * exp x)).
    { assert (smaller * (2 * exp x * d + 1 + 1) <= 2 * smaller * (d + 1) * exp x) by nra. nra. }
    lra.
Qed.
End Squaring.

(* ---- all of it *)

Lemma exp_minus_exp a b : a <= b -> exp b - exp a <= exp b * (b - a).
Proof.
  intros. assert (exp a = exp b * exp (a - b)) as -> by (rewrite <- exp_plus; f_equal; ring).
  assert (1 + (a - b) <= exp (a - b)) by apply exp_ineq1_le.
  pose proof (exp_pos b). nra.
Qed.

Lemma power_of_two_real n : IZR (2 ^ Z.of_nat n) = 2 ^ n.
Proof. now rewrite <- pow_IZR. Qed.

Section Power.
Variables (p : Z) (halvings terms : nat) (ln_2 x_floor n : Z) (x : R).
Let unit := IZR (2 ^ (64 * p)).
Hypothesis p_least : (2 <= p)%Z.
Hypothesis halvings_range : (8 <= halvings <= 32)%nat.
Hypothesis terms_range : (0 < terms)%nat /\ (Z.of_nat terms < 2 ^ 62)%Z.
Hypothesis terms_enough : (64 * p <= bits (Z.of_nat halvings) (S terms))%Z.
(* ln2(p): below ln 2 by less than two units *)
Hypothesis ln_2_near : IZR ln_2 <= ln 2 * unit < IZR ln_2 + 2.
(* x, as it is known *)
Hypothesis x_near : IZR x_floor <= x * unit < IZR x_floor + 1.
Hypothesis n_range : (0 <= n <= 2 ^ 21)%Z.
Hypothesis fits : (0 <= reduced ln_2 x_floor n < 2 ^ (64 * p))%Z.

Lemma bits_of_terms k : 2 ^ Z.to_nat (bits (Z.of_nat halvings) k) <= (2 ^ halvings) ^ k * INR (fact k) /\ (0 <= bits (Z.of_nat halvings) k)%Z.
Proof.
  induction k as [|k [IH positive]]; [simpl; split; [lra|lia]|].
  cbn [bits]. set (more := Z.log2 (Z.of_nat (S k))).
  assert (0 <= more)%Z by apply Z.log2_nonneg.
  split; [|lia].
  replace (Z.to_nat (bits (Z.of_nat halvings) k + Z.of_nat halvings + more))
    with (Z.to_nat (bits (Z.of_nat halvings) k) + (halvings + Z.to_nat more))%nat by lia.
  rewrite !pow_add, fact_simpl, mult_INR. simpl ((2 ^ halvings) ^ S k).
  assert (2 ^ Z.to_nat more <= INR (S k)).
  { rewrite <- power_of_two_real, Z2Nat.id, INR_IZR_INZ by lia. apply IZR_le. apply Z.log2_spec. lia. }
  set (a := 2 ^ Z.to_nat (bits _ k)) in *. set (b := 2 ^ halvings) in *. set (c := 2 ^ Z.to_nat more) in *.
  assert (0 < a /\ 0 < b /\ 0 < c) as (? & ? & ?) by (repeat split; apply pow_lt; lra).
  apply Rle_trans with ((b ^ k * INR (fact k)) * (b * INR (S k))); [|right; ring].
  apply Rmult_le_compat; nra.
Qed.

Theorem power_encloses :
  let value := IZR (power p ln_2 halvings terms x_floor n) in
  let exact := exp (IZR n * ln 2 - x) * unit in
  value <= exact <= value + IZR (width n halvings).
Proof.
  intros value exact. unfold value, power.
  set (r := reduced ln_2 x_floor n) in *.
  set (scale := 2 ^ halvings).
  assert (256 <= scale) as scale_least.
  { unfold scale. apply Rle_trans with (2 ^ 8); [lra|]. apply Rle_pow; [lra|lia]. }
  assert (scale <= 2 ^ 32) as scale_most by (unfold scale; apply Rle_pow; [lra|lia]).
  assert (2 ^ 128 <= unit) as unit_least.
  { unfold unit. rewrite <- (power_of_two_real 128). apply IZR_le. apply Z.pow_le_mono_r; lia. }
  assert (0 < unit) by (pose proof (pow_lt 2 128); lra).
  set (t := (r / 2 ^ Z.of_nat halvings)%Z).
  pose proof (floor_of r (2 ^ Z.of_nat halvings) ltac:(apply Z.pow_pos_nonneg; lia)) as shifted.
  rewrite power_of_two_real in shifted. fold t scale in shifted.
  (* the reduced exponent *)
  set (exponent := IZR n * ln 2 - x).
  set (short := 2 * IZR n + 1).
  assert (0 <= IZR n <= 2 ^ 21) as n_real.
  { split; [apply IZR_le; lia|]. rewrite <- (power_of_two_real 21). apply IZR_le. lia. }
  assert (IZR r <= exponent * unit <= IZR r + short) as reduced_near.
  { unfold r, reduced, exponent, short. rewrite minus_IZR, mult_IZR, plus_IZR.
    assert (IZR n * IZR ln_2 <= IZR n * (ln 2 * unit) <= IZR n * (IZR ln_2 + 2)) by (split; apply Rmult_le_compat_l; lra).
    lra. }
  assert (0 <= IZR r) as r_positive by (apply IZR_le; lia).
  assert (IZR r < unit) as r_small by (apply IZR_lt; lia).
  set (tau := exponent / scale).
  set (tau' := IZR t / unit).
  assert (0 <= IZR t) as t_positive by (apply IZR_le, Z.div_pos; [lia|apply Z.pow_pos_nonneg; lia]).
  assert (IZR t <= IZR r / scale) as t_below by lra.
  assert (0 <= tau') by (unfold tau'; apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  assert (tau' * unit = IZR t) as tau'_unit by (unfold tau'; field; lra).
  assert (tau * unit = exponent * unit / scale) as tau_unit by (unfold tau; field; lra).
  assert (tau' * scale < 1) as tau'_small.
  { apply (Rmult_lt_reg_r unit); [lra|].
    replace (tau' * scale * unit) with (IZR t * scale) by (unfold tau'; field; lra).
    apply Rle_lt_trans with (IZR r); [|lra].
    replace (IZR r) with (IZR r / scale * scale) by (field; lra). apply Rmult_le_compat_r; lra. }
  assert (tau' <= / 256) as tau'_range.
  { apply (Rmult_le_reg_r 256); [lra|]. rewrite Rinv_l by lra. nra. }
  assert (tau' * unit <= tau * unit <= tau' * unit + (short / scale + 1)) as tau_near.
  { rewrite tau_unit, tau'_unit. split.
    - apply Rle_trans with (IZR r / scale); [lra|]. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|lra].
    - assert (exponent * unit / scale <= (IZR r + short) / scale) by (apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|lra]).
      replace ((IZR r + short) / scale) with (IZR r / scale + short / scale) in * by (field; lra). lra. }
  assert (tau' <= tau) by (apply (Rmult_le_reg_r unit); lra).
  assert (0 <= short <= 2 ^ 23) as short_range by (unfold short; simpl; simpl in n_real; lra).
  assert (exponent <= 1 + / 16) as exponent_most.
  { apply (Rmult_le_reg_r unit); [lra|]. assert (2 ^ 23 <= / 16 * 2 ^ 128) by (simpl; lra). lra. }
  assert (0 <= exponent).
  { apply (Rmult_le_reg_r unit); lra. }
  assert (exp exponent <= 3) as at_most_three.
  { clearbody exponent. interval. }
  assert (tau <= 1 / 2) as tau_small.
  { unfold tau. apply (Rmult_le_reg_r scale); [lra|]. replace (exponent / scale * scale) with exponent by (field; lra). lra. }
  assert (0 <= tau) by lra.
  (* the series *)
  destruct (bits_of_terms (S terms)) as [left_out bits_positive].
  assert (tau' ^ S terms / INR (fact (S terms)) * unit <= 1) as enough.
  { assert (0 < INR (fact (S terms))) by apply INR_fact_lt_0.
    assert (unit <= scale ^ S terms * INR (fact (S terms))) as unit_most.
    { apply Rle_trans with (2 ^ Z.to_nat (bits (Z.of_nat halvings) (S terms))); [|exact left_out].
      unfold unit. rewrite <- power_of_two_real. apply IZR_le, Z.pow_le_mono_r; lia. }
    assert (tau' ^ S terms * scale ^ S terms <= 1) as powers.
    { rewrite <- Rpow_mult_distr. rewrite <- (pow1 (S terms)). apply pow_incr. split; [nra|lra]. }
    assert (0 <= tau' ^ S terms) by (apply pow_le; lra).
    apply (Rmult_le_reg_r (INR (fact (S terms)))); [lra|].
    replace (tau' ^ S terms / INR (fact (S terms)) * unit * INR (fact (S terms))) with (tau' ^ S terms * unit) by (field; lra).
    apply Rle_trans with (tau' ^ S terms * (scale ^ S terms * INR (fact (S terms)))); [apply Rmult_le_compat_l; lra|]. nra. }
  assert (0 <= p)%Z as p_positive by lia.
  pose proof (taylor_near p t p_positive ltac:(fold unit tau'; lra) terms (proj1 terms_range) (proj2 terms_range) enough) as series.
  fold unit tau' in series.
  set (first := taylor p t terms) in *.
  (* against the exact exponent *)
  set (d := 2 * short / scale + 7).
  assert (0 <= short / scale) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (exp tau * unit - d <= IZR first <= exp tau * unit) as first_near.
  { assert (exp tau' <= exp tau) by (destruct (Req_dec tau' tau) as [->|]; [lra|left; apply exp_increasing; lra]).
    assert (exp tau' * unit <= exp tau * unit) by (apply Rmult_le_compat_r; lra).
    assert ((exp tau - exp tau') * unit <= 2 * (short / scale + 1)).
    { apply Rle_trans with (exp tau * (tau - tau') * unit).
      - apply Rmult_le_compat_r; [lra|]. apply exp_minus_exp. lra.
      - pose proof (exp_of_small tau ltac:(lra)). pose proof (exp_pos tau).
        replace (exp tau * (tau - tau') * unit) with (exp tau * (tau * unit - tau' * unit)) by ring.
        apply Rmult_le_compat; lra. }
    unfold d. lra. }
  assert (0 <= IZR first) as first_positive.
  { assert (1 <= exp tau') by (pose proof (exp_ineq1_le tau'); lra).
    assert (unit <= exp tau' * unit) by nra. assert (5 <= 2 ^ 128) by (simpl; lra). lra. }
  pose proof (squared_near p p_positive halvings tau d first ltac:(lra) ltac:(unfold d; lra) first_positive first_near) as result.
  cbv zeta in result. fold unit scale in result.
  replace (tau * scale) with exponent in result by (unfold tau; field; lra).
  assert (exp (tau * (scale - 1)) <= 3) as product_most.
  { apply Rle_trans with (exp exponent); [|lra].
    assert (tau * (scale - 1) <= exponent) by (replace exponent with (tau * scale) by (unfold tau; field; lra); apply Rmult_le_compat_l; lra).
    destruct (Req_dec (tau * (scale - 1)) exponent) as [->|]; [lra|left; apply exp_increasing; lra]. }
  pose proof (exp_pos (tau * (scale - 1))).
  assert (scale * (d + 1) * exp (tau * (scale - 1)) <= IZR (width n halvings)).
  { apply Rle_trans with (scale * (d + 1) * 3).
    - apply Rmult_le_compat_l; [unfold d; nra|lra].
    - unfold width. rewrite plus_IZR, !mult_IZR, plus_IZR, mult_IZR, power_of_two_real. fold scale short.
      unfold d. right. field. lra. }
  unfold exact. fold exponent. lra.
Qed.
End Power.

(* ---- what fits *)

(* c stays below 2^63, so that [c * 1.004] units fit the sum's integer limb: see [sum_fits]. *)
Lemma step_count p t k sum c :
  (1 <= c < 2 ^ 63)%Z -> (1 <= k < 2 ^ 62)%Z ->
  let (_, c') := step p t k (sum, c) in (1 <= c' < 2 ^ 63)%Z.
Proof.
  intros c_range k_range. unfold step.
  destruct (full c k) eqn:is_full.
  - split; [lia|]. change (2 ^ 63)%Z with (2 * 2 ^ 62)%Z. lia.
  - unfold full in is_full. apply Z.leb_gt in is_full.
    pose proof (Z.log2_spec c ltac:(lia)) as [_ c_below].
    pose proof (Z.log2_spec k ltac:(lia)) as [_ k_below].
    pose proof (Z.log2_nonneg c). pose proof (Z.log2_nonneg k).
    split; [nia|].
    apply Z.lt_le_trans with (2 ^ Z.succ (Z.log2 c) * 2 ^ Z.succ (Z.log2 k))%Z; [apply Z.mul_lt_mono_nonneg; lia|].
    rewrite <- Z.pow_add_r by lia. apply Z.pow_le_mono_r; lia.
Qed.

Lemma bracket_below tau k beta : 0 <= tau <= / 256 -> 1 <= k -> 0 <= beta <= 1.004 -> 1 + tau / k * beta <= 1.004.
Proof.
  intros tau_range k_least beta_range.
  assert (tau / k <= / 256).
  { apply (Rmult_le_reg_r k); [lra|]. replace (tau / k * k) with tau by (field; lra). nra. }
  assert (0 <= tau / k) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  nra.
Qed.

Lemma sum_fits p beta sum c :
  (0 <= p)%Z -> near p beta (sum, c) -> 0 <= beta <= 1.004 -> (c < 2 ^ 63)%Z ->
  IZR sum < IZR (2 ^ 64) * IZR (2 ^ (64 * p)).
Proof.
  intros p_positive (c_positive & _ & high) beta_range c_below.
  pose proof (unit_positive p p_positive) as positive. cbv zeta in *.
  assert (1 <= IZR c <= IZR (2 ^ 63)) by (split; apply IZR_le; lia).
  replace (IZR (2 ^ 64)) with (2 * IZR (2 ^ 63)) by (rewrite <- mult_IZR; reflexivity).
  apply Rle_lt_trans with (1 := high). apply Rmult_lt_compat_r; [assumption|]. nra.
Qed.

(* q is x/ln 2 as the program knows it, and n is its whole part and 1. A further ln 2 repairs a negative remainder. *)
Lemma reduction_fits p ln_2 x_floor n x q :
  (2 <= p)%Z ->
  let unit := IZR (2 ^ (64 * p)) in
  IZR ln_2 <= ln 2 * unit < IZR ln_2 + 2 ->
  IZR x_floor <= x * unit < IZR x_floor + 1 ->
  (0 <= n <= 2 ^ 21)%Z -> IZR n - 1 <= q < IZR n -> Rabs (q - x / ln 2) <= / 2 ^ 27 ->
  (reduced ln_2 x_floor n < 2 ^ (64 * p))%Z /\
  ((reduced ln_2 x_floor n < 0)%Z -> (0 <= reduced ln_2 x_floor (n + 1) < 2 ^ (64 * p))%Z).
Proof.
  intros p_least unit ln_2_near x_near n_range whole close.
  assert (2 ^ 128 <= unit) as unit_least.
  { unfold unit. rewrite <- (power_of_two_real 128). apply IZR_le. apply Z.pow_le_mono_r; lia. }
  assert (0 <= IZR n <= 2 ^ 21) as n_real.
  { split; [apply IZR_le; lia|]. rewrite <- (power_of_two_real 21). apply IZR_le. lia. }
  assert (0.69 <= ln 2 <= 0.7) as two by (split; interval).
  set (l := ln 2) in *.
  apply Rcomplements.Rabs_le_between in close.
  assert (x = x / l * l) as of_quotient by (field; lra).
  set (v := x / l) in *.
  assert (IZR (reduced ln_2 x_floor n) = IZR n * IZR ln_2 - (IZR x_floor + 1)) as value.
  { unfold reduced. rewrite minus_IZR, mult_IZR, plus_IZR. reflexivity. }
  assert (IZR (reduced ln_2 x_floor (n + 1)) = IZR (reduced ln_2 x_floor n) + IZR ln_2) as next.
  { unfold reduced. rewrite !minus_IZR, !mult_IZR, !plus_IZR. ring. }
  assert (IZR n * IZR ln_2 <= IZR n * (l * unit)) by (apply Rmult_le_compat_l; lra).
  assert (IZR n * (l * unit) <= IZR n * (IZR ln_2 + 2)) by (apply Rmult_le_compat_l; lra).
  assert (0 < unit) by (simpl in unit_least; lra).
  assert (/ 2 ^ 27 <= 0.01) by (simpl; lra).
  assert ((IZR n - v) * l <= 1.01 * l) by (apply Rmult_le_compat_r; lra).
  assert (- 0.01 * l <= (IZR n - v) * l) by (apply Rmult_le_compat_r; lra).
  assert ((IZR n - v) * l * unit <= 0.8 * unit) by (apply Rmult_le_compat_r; lra).
  assert (- 0.01 * unit <= (IZR n - v) * l * unit) by (apply Rmult_le_compat_r; lra).
  assert (x * unit = v * l * unit) by (rewrite of_quotient at 1; ring).
  split.
  - apply lt_IZR. fold unit. lra.
  - intros negative. apply IZR_lt in negative.
    assert (0.69 * unit <= l * unit <= 0.7 * unit) by (split; apply Rmult_le_compat_r; lra).
    simpl in unit_least, n_real.
    split; [apply le_IZR|apply lt_IZR]; rewrite next; fold unit; lra.
Qed.

Print Assumptions power_encloses.
Print Assumptions reduction_fits.
Print Assumptions sum_fits.
