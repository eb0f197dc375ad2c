/** `memory`: the agent's notes, MEMORY.md; `user`: what it knows of its user, USER.md. */
export type MemoryTarget = 'memory' | 'user'

/** Both stores, in the order in which they are shown. */
export const MEMORY_TARGETS: readonly MemoryTarget[] = ['memory', 'user']
