// What a provider's prompt cache can keep: whether each request starts with all of the one before it.

/**
 * One line for the tool definitions, one for the system text, one for each message; cache marks removed.
 * @param {string} body of a chat-completions request
 * @returns {string[]}
 */
export function prefixLines(body) {
  const { tools, messages } = JSON.parse(body, (key, value) => (key === 'cache_control' ? undefined : value))
  return [`tools ${JSON.stringify(tools ?? [])}`, ...messages.map((message) => JSON.stringify(message))]
}

/**
 * @param {string[]} bodies in the order they were sent
 * @returns {{ pairs: number, kept: number, broken: { request: number, line: number }[] }} `request` counts from 0, `line` in it
 */
export function prefixStability(bodies) {
  const requests = bodies.map(prefixLines)
  const broken = []
  for (let at = 1; at < requests.length; at++) {
    const line = firstBreak(requests[at - 1], requests[at])
    if (line !== -1) broken.push({ request: at, line })
  }
  const pairs = Math.max(0, requests.length - 1)
  return { pairs, kept: pairs - broken.length, broken }
}

/** Index of the first line of `before` that `after` does not repeat, or -1. The last one may have gained parts at its end. */
function firstBreak(before, after) {
  return before.findIndex((line, index) => {
    if (line === after[index]) return false
    const isLast = index === before.length - 1
    return !(isLast && index > 0 && after[index] !== undefined && grewAtEnd(JSON.parse(line), JSON.parse(after[index])))
  })
}

function grewAtEnd(before, after) {
  const [partsBefore, partsAfter] = [contentParts(before.content), contentParts(after.content)]
  const sameRest = JSON.stringify({ ...before, content: null }) === JSON.stringify({ ...after, content: null })
  return sameRest && partsBefore.every((part, index) => JSON.stringify(part) === JSON.stringify(partsAfter[index]))
}

function contentParts(content) {
  if (Array.isArray(content)) return content
  return content ? [{ type: 'text', text: content }] : []
}
