-- One script for all operations: wrk ... -s knowhow.lua URL -- OPERATION DATA NONCE THREADS [PAUSE]
-- DATA is a Lua file that the harness writes (users with tokens, sessions, entity tags; skills; messages, as JSON writes
-- them; requests that are refused, by name, which are operations too); NONCE makes names and texts new. With PAUSE each connection
-- waits before each request, so many milliseconds on average: what many do who ask now and then.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("id", #threads)
end

local operations, choose, data, nonce
local count = 0
bad = 0 -- answers over MCP that are refusals, whatever their status
degraded = 0 -- turns that were answered without the vector of their message

local function new()
  count = count + 1
  return nonce .. "-" .. id .. "-" .. count
end

local function headers(user)
  return " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " .. user.token .. "\r\n"
end

local function get(user, path, more)
  return "GET " .. path .. headers(user) .. (more or "") .. "\r\n"
end

local function post(user, path, body)
  return "POST " .. path .. headers(user) .. "Content-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n"
    .. body
end

-- `message`: the other headers and the body.
local function mcp(user, message)
  return "POST /mcp" .. headers(user) .. message
end

local function any(list)
  return list[math.random(#list)]
end

local function words(many)
  local chosen = {}
  for place = 1, many do
    chosen[place] = any(data.words)
  end
  return table.concat(chosen, " ")
end

-- Each thread has sessions of its own and takes them in turn, so that no two turns of one session meet. Every tenth turn
-- of a session says that the prompt was compressed: conversations are short, and later turns would find nothing new.
local mine, visits, threads_in_all = {}, 0, 1

local function turn(message, more)
  if #mine == 0 then
    for place, user in ipairs(data.readers) do
      if place % threads_in_all == id % threads_in_all then
        table.insert(mine, user)
      end
    end
  end
  local user, round = mine[visits % #mine + 1], math.floor(visits / #mine)
  visits = visits + 1
  local reset = round % 10 == 0 and ',"context_reset":true' or ""
  message = message or data.messages[round % #data.messages + 1]
  return post(user, "/v1/sessions/" .. user.session .. "/turns",
    '{"message":"' .. message .. '"' .. reset .. (more or "") .. "}")
end

local function create(user)
  local name = new()
  return post(user, "/v1/skills", '{"name":"new-' .. name .. '","description":"' .. data.description
    .. '","content":"' .. name .. data.body .. '"}')
end

operations = {
  health = function()
    return "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
  end,
  index = function()
    return get(any(data.readers), "/v1/skills")
  end,
  index_304 = function()
    local user = any(data.readers)
    return get(user, "/v1/skills", "If-None-Match: " .. user.etag .. "\r\n")
  end,
  load = function()
    return get(any(data.readers), "/v1/skills/" .. any(data.skills).name)
  end,
  raw = function()
    return get(any(data.readers), "/v1/skills/" .. any(data.skills).name .. "/SKILL.md")
  end,
  raw_304 = function()
    local skill = any(data.skills)
    return get(any(data.readers), "/v1/skills/" .. skill.name .. "/SKILL.md", "If-None-Match: " .. skill.etag .. "\r\n")
  end,
  -- The reference saves the other half of the skills.
  save = function()
    local name = data.skills[math.random(math.floor(#data.skills / 2))].name
    return post(any(data.writers), "/v1/skills", '{"name":"' .. name .. '","content":"' .. new() .. data.body .. '"}')
  end,
  -- Mostly another text than was there: creators have as many skills as users have.
  save_other = function()
    local content = new() .. data.body
    return post(any(data.creators), "/v1/skills", '{"name":"' .. any(data.skills).name .. '","content":"' .. content .. '"}')
  end,
  create = function()
    return create(any(data.creators))
  end,
  -- By users of whom the process knows nothing yet.
  create_cold = function()
    return create(any(data.creators))
  end,
  -- Each of another user, as long as there are any.
  create_first = function()
    local place = visits * threads_in_all + id
    visits = visits + 1
    return create(data.creators[(place - 1) % #data.creators + 1])
  end,
  -- The messages of a session come again, so that a model's vectors of them are at hand.
  turn = function()
    return turn()
  end,
  turn_fresh = function()
    return turn("please " .. words(9) .. " " .. new(), ',"deadline_ms":5000')
  end,
  turn_deadline = function()
    return turn("please " .. words(9) .. " " .. new(), ',"deadline_ms":50')
  end,
  search = function()
    return get(any(data.readers), "/v1/skills?q=" .. any(data.queries) .. "&limit=5")
  end,
  snapshot = function()
    return get(any(data.readers), "/v1/snapshot")
  end,
  snapshot_304 = function()
    local user = any(data.readers)
    return get(user, "/v1/snapshot", "If-None-Match: " .. user.snapshot .. "\r\n")
  end,
  open = function()
    return post(any(data.readers), "/v1/sessions", '{"channel":"sms"}')
  end,
  skill_view = function()
    return mcp(any(data.readers), any(data.skills).view)
  end,
  skills_list = function()
    return mcp(any(data.readers), data.skills_list)
  end,
}

local over_mcp = { skill_view = true, skills_list = true }

-- A tool's failure is a result too, and short: long answers need not be searched for it.
local function look(status, _, body)
  local failed = #body < 2000 and body:find('"isError":true', 1, true)
  local good = status == 200 and body:find('"result":{', 1, true) and not failed
  -- wrk counts those from 400 on.
  if status < 400 and not good then
    bad = bad + 1
  end
end

local function count_degraded(_, _, body)
  if body:find('"degraded":[', 1, true) then
    degraded = degraded + 1
  end
end

function init(args)
  data, nonce, threads_in_all = dofile(args[2]), args[3], tonumber(args[4])
  choose = operations[args[1]] or function()
    return get(any(data.readers), data.refused[args[1]])
  end
  -- Only here, since wrk copies every answer for it.
  response = over_mcp[args[1]] and look or args[1] == "turn_deadline" and count_degraded or nil
  math.randomseed(tonumber(nonce) % 2147483647 + id * 7919)
  if args[5] then
    delay = function() -- wrk asks for it only where there is one
      return math.random(0, 2 * tonumber(args[5]))
    end
  end
end

function request()
  return choose()
end

function done(summary, latency)
  local errors = summary.errors
  local refused, without = errors.status, 0
  for _, thread in ipairs(threads) do
    refused = refused + thread:get("bad")
    without = without + thread:get("degraded")
  end
  io.write(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "status": %d, "socket": %d, "degraded": %d, "p50_ms": %.3f, "p99_ms": %.3f, '
      .. '"p999_ms": %.3f}\n',
    summary.requests, summary.duration / 1e6, refused,
    errors.connect + errors.read + errors.write + errors.timeout, without,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000))
end
