// Import cycles: one shortest cycle through each strongly connected group.

/**
 * @param {Map<string, string[]>} graph node to the nodes it points to
 * @returns {string[][]} each cycle once, its smallest node first
 */
export function findCycles(graph) {
  const cycles = []
  const covered = new Set()
  for (const start of [...graph.keys()].sort()) {
    if (covered.has(start)) continue
    const cycle = shortestCycle(graph, start)
    if (!cycle) continue
    cycles.push(cycle)
    for (const node of cycle) covered.add(node)
  }
  return cycles
}

/** Breadth first from `start` until an edge leads back to it. */
function shortestCycle(graph, start) {
  const cameFrom = new Map([[start, null]])
  for (const node of cameFrom.keys()) {
    for (const next of graph.get(node) ?? []) {
      if (next === start) return pathTo(cameFrom, node)
      if (!cameFrom.has(next)) cameFrom.set(next, node)
    }
  }
  return null
}

function pathTo(cameFrom, node) {
  const path = []
  for (let at = node; at !== null; at = cameFrom.get(at)) path.unshift(at)
  return path
}
