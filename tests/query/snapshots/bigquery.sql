select g0, g1, count(*) as people, sum(v0) as sum0, sum(v1) as sum1
from (select g0, g1,
  case when v0 < -1610612736 then -1610612736 when v0 > 1073741824 then 1073741824 else v0 end as v0,
  case when v1 < 0 then 0 when v1 > 5 then 5 else v1 end as v1, row_number() over (partition by p order by to_hex(sha256('0000000000000000000000000000000000000000000000000000000000000000' || '/' || coalesce(collate(substr(cast(g0 as string), 1, 1000), ''), '') || '/' || coalesce(collate(substr(cast(g1 as string), 1, 1000), ''), '') || '/' || name)), g0, g1) as place
from (select p, min(collate(substr(cast(p as string), 1, 1000), '')) as name, g0, g1, sum(cast(v0 as numeric)) as v0, sum(cast(v1 as numeric)) as v1
from (select case when cast(`g` as bytes) = cast('Paris' as bytes) then 0 when cast(`g` as bytes) = cast(cast(from_hex('4f2748617265') as string) as bytes) then 1 when cast(`g` as bytes) = cast(cast(from_hex('c3a9') as string) as bytes) then 2 when cast(`g` as bytes) is null then 3 end as g0,
  case when `d` between date '0001-01-01' and date '9999-12-31' then `d` end as g1, `who` as p,
  case when `w` is not null and not is_nan(`w`) then case when cast(`w` as float64) >= cast('4.0' as float64) then 4294967296 when cast(`w` as float64) <= -cast('4.0' as float64) then -4294967296 when cast(`w` as float64) >= cast('4.656612873077393e-10' as float64) then safe_cast(trunc(cast(`w` as float64) * cast('1073741824.0' as float64) + cast('0.5' as float64)) as int64) when cast(`w` as float64) <= -cast('4.656612873077393e-10' as float64) then safe_cast(trunc(cast(`w` as float64) * cast('1073741824.0' as float64) - cast('0.5' as float64)) as int64) else 0 end end as v0,
  case when `v` is not null then cast(greatest(least(`v`, 4294967296), -4294967296) as int64) end as v1
from (select *
from `shop`.`visits` where coalesce(((`w` < cast('1000.5' as float64)) and (not (collate(`g`, '') like cast(from_hex('257825') as string))) and ((case when `d` between date '0001-01-01' and date '9999-12-31' then extract(year
from `d`) end) > (1900)) and (safe_add(safe_multiply(cast(`h` as bignumeric), cast(`h` as bignumeric)), cast((1) as bignumeric)) <> (7))), false)) as kept where `who` is not null and `w` is not null and not is_nan(`w`)) as coded where g0 is not null group by p, g0, g1) as people) as ranked where place <= 2 group by g0, g1
