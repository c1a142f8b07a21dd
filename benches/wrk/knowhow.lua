-- One script for all operations: wrk ... -s knowhow.lua URL -- OPERATION DATA NONCE
-- DATA is a Lua file that the harness writes (users with tokens, skills, entity tags); NONCE makes names and texts new.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("id", #threads)
end

local operations, choose, data, nonce
local count = 0
bad = 0 -- answers over MCP that are refusals, whatever their status

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

operations = {
  health = function()
    return "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
  end,
  authenticated = function()
    return get(any(data.readers), "/v1/skills?limit=0")
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
  create = function()
    local name = new()
    return post(any(data.creators), "/v1/skills", '{"name":"new-' .. name .. '","description":"' .. data.description
      .. '","content":"' .. name .. data.body .. '"}')
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

function init(args)
  choose, data, nonce = operations[args[1]], dofile(args[2]), args[3]
  -- Only here, since wrk copies every answer for it.
  response = over_mcp[args[1]] and look or nil
  math.randomseed(tonumber(nonce) % 2147483647 + id * 7919)
end

function request()
  return choose()
end

function done(summary, latency)
  local errors = summary.errors
  local refused = errors.status
  for _, thread in ipairs(threads) do
    refused = refused + thread:get("bad")
  end
  io.write(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "status": %d, "socket": %d, "p50_ms": %.3f, "p99_ms": %.3f}\n',
    summary.requests, summary.duration / 1e6, refused,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
