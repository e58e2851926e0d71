select g0, g1, g2, g3, g4, count(*) as people, sum(v0) as sum0
from (select g0, g1, g2, g3, g4,
  case when v0 < 0 then 0 when v0 > 5 then 5 else v0 end as v0, row_number() over (partition by p order by sha2('0000000000000000000000000000000000000000000000000000000000000000' || '/' || coalesce(collate(substr(cast(g0 as varchar), 1, 1000), ''), '') || '/' || coalesce(collate(substr(cast(g1 as varchar), 1, 1000), ''), '') || '/' || coalesce(collate(substr(cast(g2 as varchar), 1, 1000), ''), '') || '/' || coalesce(collate(substr(cast(g3 as varchar), 1, 1000), ''), '') || '/' || coalesce(collate(substr(cast(g4 as varchar), 1, 1000), ''), '') || '/' || name, 256), g0, g1, g2, g3, g4) as place
from (select p, min(collate(substr(cast(p as varchar), 1, 1000), '')) as name, g0, g1, g2, g3, g4, sum(v0) as v0
from (select case ((case when "D" between date '0001-01-01' and date '9999-12-31' then extract(year
from "D") end) * 4 + (case when "D" between date '0001-01-01' and date '9999-12-31' then extract(quarter
from "D") end) - 1) when 8103 then 0 when 8104 then 1 end as g0, ((case when "D" between date '0001-01-01' and date '9999-12-31' then extract(year
from "D") end) * 53 + (case when "D" between date '0001-01-01' and date '9999-12-31' then weekiso("D") end) - 1 + case when (case when "D" between date '0001-01-01' and date '9999-12-31' then weekiso("D") end) > 51 and (case when "D" between date '0001-01-01' and date '9999-12-31' then extract(month
from "D") end) = 1 then -53 when (case when "D" between date '0001-01-01' and date '9999-12-31' then weekiso("D") end) = 1 and (case when "D" between date '0001-01-01' and date '9999-12-31' then extract(month
from "D") end) = 12 then 53 else 0 end) as g1,
  case (case (case when "D" between date '0001-01-01' and date '9999-12-31' then mod(dayofweekiso("D"), 7) end) when 0 then 7 else (case when "D" between date '0001-01-01' and date '9999-12-31' then mod(dayofweekiso("D"), 7) end) end) when 1 then 0 when 2 then 1 when 3 then 2 when 4 then 3 when 5 then 4 when 6 then 5 when 7 then 6 end as g2,
  case when ("V" < cast('66' as number(38, 0))) and not ("V" < cast('0' as number(38, 0))) then case when ("V" < cast('18' as number(38, 0))) then 0 else 1 end end as g3,
  case when ("W" < cast('0.1' as double)) and not ("W" < cast('-0.5' as double)) then 0 end as g4, "WHO" as p,
  case when "V" is not null then cast(greatest(least("V", 4294967296), -4294967296) as number(38, 0)) end as v0
from "SHOP"."VISITS" where "WHO" is not null and "V" is not null) as coded where g0 is not null and g2 is not null and g3 is not null and g4 is not null group by p, g0, g1, g2, g3, g4) as people) as ranked where place <= 2 group by g0, g1, g2, g3, g4
