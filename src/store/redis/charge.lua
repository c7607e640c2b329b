-- Charges the cost to a budget, all of it or none. Times are milliseconds since 1970-01-01T00:00:00Z.
--
-- KEYS[1]  the window as "USED ENDS"; absent if no window runs
-- ARGV     units and length of a window; the cost, negative for a refund; USED and ENDS as the node last knew them, or 0 0;
--          the maximum time until the start of a window
-- Returns  whether the charge is allowed (1 or 0), USED and ENDS afterwards, and the time

local units, length, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local known_used, known_ends = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local stored = redis.pcall('GET', KEYS[1]) or ''
if type(stored) == 'table' then
  if not string.find(stored.err, 'WRONGTYPE', 1, true) then
    return stored
  end
  -- `SET` replaces a key of another type.
  stored = ''
end
local used, ends = string.match(stored, '^(%d+) (%d+)$')
used, ends = tonumber(used) or 0, tonumber(ends) or 0
-- A window that starts later than that counts as ended: the clock was set back.
local latest = now + length + tonumber(ARGV[6])
if ends <= now or ends > latest then
  used, ends = 0, 0
end

-- Units that Redis lost or that the node granted meanwhile count, unless the clock was set back since.
if now < known_ends and known_ends <= latest then
  used, ends = math.max(used, known_used), math.max(ends, known_ends)
end
if used == 0 then
  ends = now + length
end

local granted = cost <= math.max(units - used, 0)
if granted then
  used = math.max(used + cost, 0)
end

local budget = string.format('%.0f %.0f', used, ends)
-- A refund can leave an empty window; a charge of 0 does not change the stored one.
if (used > 0 or cost < 0 and stored ~= '') and ends > now and budget ~= stored then
  redis.call('SET', KEYS[1], budget, 'PX', ends - now)
end
return { granted and 1 or 0, used, ends, now }
