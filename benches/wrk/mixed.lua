-- Mixed traffic, timed by kind: wrk -t N -c N ... -s mixed.lua URL -- DATA NONCE THREADS
-- One connection for each thread, so that an answer is that of the thread's last request.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds, nanoseconds; } moment;
  int clock_gettime(int clock, moment *now);
]])
local now = ffi.new("moment")
local MONOTONIC, FINEST, GROWTH, BUCKETS = 1, 10, 1.05, 300 -- from 10 microseconds, each bucket 5 % wider

local function microseconds()
  ffi.C.clock_gettime(MONOTONIC, now)
  return tonumber(now.seconds) * 1e6 + tonumber(now.nanoseconds) / 1e3
end

-- Kind and its share of a hundred.
local KINDS = {
  { "turn", 50 }, { "index", 15 }, { "load", 15 }, { "snapshot, 304", 10 }, { "save", 5 }, { "open a session", 3 },
  { "recall", 2 },
}

local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("id", #threads)
end

local data, nonce, users, count = nil, nil, {}, 0
local kind, began
-- What done() reads: globals named by kind and bucket, since that is all it can read.

local function any(list)
  return list[math.random(#list)]
end

local function add(name)
  _G[name] = (_G[name] or 0) + 1
end

local function new()
  count = count + 1
  return nonce .. "-" .. id .. "-" .. count
end

local function words(many)
  local chosen = {}
  for place = 1, many do
    chosen[place] = any(data.words)
  end
  return table.concat(chosen, " ")
end

local function headers(user, more)
  return " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " .. user.token .. "\r\n" .. (more or "") .. "\r\n"
end

local function get(user, path, more)
  return "GET " .. path .. headers(user, more)
end

local function post(user, path, body)
  return "POST " .. path .. headers(user, "Content-Type: application/json\r\nContent-Length: " .. #body .. "\r\n") .. body
end

local requests = {
  -- Every message is a new one; one in ten names a skill. Conversations have ten turns.
  turn = function(user)
    local turns = user.turns or 0
    user.turns = turns + 1
    local name = math.random(10) == 1 and "use " .. any(data.skills).name .. " to " or ""
    return post(user, "/v1/sessions/" .. user.session .. "/turns", '{"message":"' .. name .. "please " .. words(9) .. '"'
      .. (turns % 10 == 0 and ',"context_reset":true}' or "}"))
  end,
  index = function(user)
    return get(user, "/v1/skills")
  end,
  load = function(user)
    return get(user, "/v1/skills/" .. any(data.skills).name)
  end,
  ["snapshot, 304"] = function(user)
    return get(user, "/v1/snapshot", "If-None-Match: " .. user.snapshot .. "\r\n")
  end,
  save = function(user)
    return post(user, "/v1/skills", '{"name":"' .. any(data.skills).name .. '","content":"' .. new() .. data.body .. '"}')
  end,
  ["open a session"] = function(user)
    return post(user, "/v1/sessions", '{"channel":"sms"}')
  end,
  recall = function(user)
    return get(user, "/v1/recall?q=" .. words(4):gsub(" ", "+"))
  end,
}

function init(args)
  data, nonce = dofile(args[1]), args[2]
  local in_all = tonumber(args[3])
  for place, user in ipairs(data.readers) do
    if place % in_all == id % in_all then
      table.insert(users, user)
    end
  end
  math.randomseed(tonumber(nonce) % 2147483647 + id * 7919)
end

function request()
  local dice, place = math.random(100), 1
  while dice > KINDS[place][2] do
    dice, place = dice - KINDS[place][2], place + 1
  end
  kind = KINDS[place][1]
  local text = requests[kind](any(users))
  began = microseconds()
  return text
end

function response(status, _, body)
  local taken = microseconds() - began
  local bucket = math.floor(math.log(math.max(taken, FINEST) / FINEST) / math.log(GROWTH))
  add(kind .. " " .. math.min(bucket, BUCKETS))
  if status >= 400 then
    add(kind .. " refused")
    refusal = status .. " " .. kind .. ": " .. body:sub(1, 300)
  elseif kind == "snapshot, 304" and status ~= 304 then
    add(kind .. " other")
  elseif kind == "turn" and body:find('"degraded":[', 1, true) then
    add("turn other")
  end
end

local function sum(name)
  local all = 0
  for _, thread in ipairs(threads) do
    all = all + (thread:get(name) or 0)
  end
  return all
end

-- Milliseconds at the upper end of the bucket that holds the percentile.
local function percentile(buckets, total, share)
  local seen = 0
  for bucket = 0, BUCKETS do
    seen = seen + buckets[bucket]
    if seen >= share * total then
      return FINEST * GROWTH ^ (bucket + 1) / 1000
    end
  end
end

function done(summary)
  local seconds = summary.duration / 1e6
  for _, described in ipairs(KINDS) do
    local name, buckets, total = described[1], {}, 0
    for bucket = 0, BUCKETS do
      buckets[bucket] = sum(name .. " " .. bucket)
      total = total + buckets[bucket]
    end
    io.write(string.format('KIND {"kind": "%s", "requests": %d, "rate": %.1f, "refused": %d, "other": %d, "p50_ms": %.2f, '
      .. '"p99_ms": %.2f}\n', name, total, total / seconds, sum(name .. " refused"), sum(name .. " other"),
      percentile(buckets, total, 0.5) or 0, percentile(buckets, total, 0.99) or 0))
  end
  for _, thread in ipairs(threads) do
    local refused = thread:get("refusal")
    if refused then
      io.write("REFUSED " .. refused .. "\n")
    end
  end
  local errors = summary.errors
  io.write(string.format("BROKEN %d\n", errors.connect + errors.read + errors.write + errors.timeout))
end
