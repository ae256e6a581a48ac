-- Windows and histograms for a DuckDB without evq, over the Parquet stores that "evq convert" writes:
--
--	evq sql --macros > evq.sql
--	duckdb -init evq.sql -c "FROM evq_windows('drive.parquet', 50000) LIMIT 5"
--
-- Times and lengths are microseconds.

-- The events of a store, of types that are wide enough to compute with: 2 * p - 1 and x - 640 do not overflow.
CREATE OR REPLACE MACRO evq_events(store) AS TABLE
	SELECT t::BIGINT AS t, x::INTEGER AS x, y::INTEGER AS y, p::INTEGER AS p FROM read_parquet(store);

-- The number of the half-open window [k * length, (k + 1) * length) that a time lies in. It rounds down also below
-- time 0, where t // length rounds towards 0.
CREATE OR REPLACE MACRO evq_window(t, length) AS
	t // length - (t % length < 0)::INTEGER;

-- The windows that have events, as evq's windows: their limits, how many events, OFF and ON.
CREATE OR REPLACE MACRO evq_windows(store, length) AS TABLE
	SELECT evq_window(t, length) AS "window", evq_window(t, length) * length AS window_start,
		(evq_window(t, length) + 1) * length AS window_end, count(*) AS window_events,
		count(*) FILTER (WHERE p = 0) AS "off", count(*) FILTER (WHERE p = 1) AS "on"
	FROM evq_events(store) GROUP BY ALL ORDER BY ALL;

-- The bin, 0 to bins - 1, of a time within a window whose first and last events lie at first and last: bins of equal
-- length, the last of which holds the last event.
CREATE OR REPLACE MACRO evq_bin(t, first, last, bins) AS
	CASE WHEN last = first THEN 0 ELSE least(bins - 1, (t - first)::HUGEINT * bins // (last - first))::INTEGER END;

-- A stacked histogram without its zeros: a row for each window, polarity, bin and pixel that has events, the channel
-- being p * bins + bin. events is not cut off.
CREATE OR REPLACE MACRO evq_stacked_histogram(store, length, bins) AS TABLE
	WITH e AS (SELECT evq_window(t, length) AS w, t, x, y, p FROM evq_events(store)),
		l AS (SELECT w, min(t) AS first, max(t) AS last FROM e GROUP BY w)
	SELECT e.w AS "window", p * bins + evq_bin(t, first, last, bins) AS channel, y, x, count(*) AS events
	FROM e JOIN l ON e.w = l.w GROUP BY ALL ORDER BY ALL;

-- How many events each pixel has, of each polarity.
CREATE OR REPLACE MACRO evq_counts(store) AS TABLE
	SELECT y, x, count(*) FILTER (WHERE p = 0) AS "off", count(*) FILTER (WHERE p = 1) AS "on"
	FROM evq_events(store) GROUP BY ALL ORDER BY ALL;
