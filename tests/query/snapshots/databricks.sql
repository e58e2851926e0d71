select g0, g1, count(*) as people, sum(v0) as sum0, sum(v1) as sum1
from (select g0, g1,
  case when v0 < -1610612736 then -1610612736 when v0 > 1073741824 then 1073741824 else v0 end as v0,
  case when v1 < 0 then 0 when v1 > 5 then 5 else v1 end as v1, row_number() over (partition by p order by sha2('0000000000000000000000000000000000000000000000000000000000000000' || '/' || coalesce(cast(g0 as string), '') || '/' || coalesce(cast(g1 as string), '') || '/' || name, 256), g0, g1) as place
from (select p, min(cast(p as string)) as name, g0, g1,
  case when count(v0) > 0 then coalesce(try_sum(v0), 4294967296) end as v0,
  case when count(v1) > 0 then coalesce(try_sum(v1), 4294967296) end as v1
from (select case when cast(`g` as binary) = cast('Paris' as binary) then 0 when cast(`g` as binary) = cast(cast(X'4f2748617265' as string) as binary) then 1 when cast(`g` as binary) = cast(cast(X'c3a9' as string) as binary) then 2 when cast(`g` as binary) is null then 3 end as g0,
  case when `d` between date '0001-01-01' and date '9999-12-31' then `d` end as g1, `who` as p,
  case when `w` is not null and not isnan(`w`) then case when cast(`w` as double) >= cast('4.0' as double) then 4294967296 when cast(`w` as double) <= -cast('4.0' as double) then -4294967296 when cast(`w` as double) >= cast('4.656612873077393e-10' as double) then try_cast(cast(`w` as double) * cast('1073741824.0' as double) + cast('0.5' as double) as bigint) when cast(`w` as double) <= -cast('4.656612873077393e-10' as double) then try_cast(cast(`w` as double) * cast('1073741824.0' as double) - cast('0.5' as double) as bigint) else 0 end end as v0,
  case when `v` is not null then cast(greatest(least(`v`, 4294967296), -4294967296) as bigint) end as v1
from (select *
from `shop`.`visits` where coalesce(((`w` < cast('1000.5' as double)) and (not (collate(`g`, 'UTF8_BINARY') like cast(X'257825' as string))) and ((case when `d` between date '0001-01-01' and date '9999-12-31' then extract(year
from `d`) end) > (1900)) and (try_add(try_multiply(cast(`h` as decimal(38, 0)), cast(`h` as decimal(38, 0))), cast((1) as decimal(38, 0))) <> (7))), false)) as kept where `who` is not null and `w` is not null and not isnan(`w`)) as coded where g0 is not null group by p, g0, g1) as people) as ranked where place <= 2 group by g0, g1
