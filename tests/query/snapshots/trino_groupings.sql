select g0, g1, g2, g3, g4, count(*) as people, sum(v0) as sum0
from (select g0, g1, g2, g3, g4,
  case when v0 < 0 then 0 when v0 > 5 then 5 else v0 end as v0, row_number() over (partition by p order by to_hex(sha256(to_utf8('0000000000000000000000000000000000000000000000000000000000000000' || '/' || coalesce(substr(cast(g0 as varchar), 1, 1000), '') || '/' || coalesce(substr(cast(g1 as varchar), 1, 1000), '') || '/' || coalesce(substr(cast(g2 as varchar), 1, 1000), '') || '/' || coalesce(substr(cast(g3 as varchar), 1, 1000), '') || '/' || coalesce(substr(cast(g4 as varchar), 1, 1000), '') || '/' || name))), g0, g1, g2, g3, g4) as place
from (select p, min(substr(cast(p as varchar), 1, 1000)) as name, g0, g1, g2, g3, g4, sum(cast(v0 as decimal(38, 0))) as v0
from (select case ((case when "d" between date '0001-01-01' and date '9999-12-31' then extract(year
from "d") end) * 4 + (case when "d" between date '0001-01-01' and date '9999-12-31' then extract(quarter
from "d") end) - 1) when 8103 then 0 when 8104 then 1 end as g0, ((case when "d" between date '0001-01-01' and date '9999-12-31' then extract(year
from "d") end) * 53 + (case when "d" between date '0001-01-01' and date '9999-12-31' then extract(week
from "d") end) - 1 + case when (case when "d" between date '0001-01-01' and date '9999-12-31' then extract(week
from "d") end) > 51 and (case when "d" between date '0001-01-01' and date '9999-12-31' then extract(month
from "d") end) = 1 then -53 when (case when "d" between date '0001-01-01' and date '9999-12-31' then extract(week
from "d") end) = 1 and (case when "d" between date '0001-01-01' and date '9999-12-31' then extract(month
from "d") end) = 12 then 53 else 0 end) as g1,
  case (case (case when "d" between date '0001-01-01' and date '9999-12-31' then mod(day_of_week("d"), 7) end) when 0 then 7 else (case when "d" between date '0001-01-01' and date '9999-12-31' then mod(day_of_week("d"), 7) end) end) when 1 then 0 when 2 then 1 when 3 then 2 when 4 then 3 when 5 then 4 when 6 then 5 when 7 then 6 end as g2,
  case when ("v" < cast('66' as bigint)) and not ("v" < cast('0' as bigint)) then case when ("v" < cast('18' as bigint)) then 0 else 1 end end as g3,
  case when ("w" < cast('0.1' as double)) and not ("w" < cast('-0.5' as double)) then 0 end as g4, "who" as p,
  case when "v" is not null then cast(greatest(least("v", 4294967296), -4294967296) as bigint) end as v0
from "shop"."visits" where "who" is not null and "v" is not null) as coded where g0 is not null and g2 is not null and g3 is not null and g4 is not null group by p, g0, g1, g2, g3, g4) as people) as ranked where place <= 2 group by g0, g1, g2, g3, g4
