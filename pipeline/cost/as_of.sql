-- The costs whose price holds on one day, as the book was known on another.
--
-- grain    one reading of one curve priced by the one row of its GPU and tier that holds on $as_of
-- in       all_costs: COSTS
--          $as_of: the day; $known_on: corrections made after it are left out
-- columns  COSTS, unchanged
-- order    curve_id, reading, target_tok_s_user, tier, valid_from, corrected_on; applied by the runner
SELECT *
FROM all_costs
WHERE valid_from <= $as_of::DATE AND (valid_to IS NULL OR valid_to > $as_of::DATE)
    AND (recorded_on IS NULL OR recorded_on <= $known_on::DATE)
    AND (corrected_on IS NULL OR corrected_on > $known_on::DATE)
