/** What can follow `/skills`. */
export const VERBS = [
  ...['list', 'inspect', 'create', 'edit', 'delete', 'config'],
  ...['pending', 'approve', 'reject', 'diff', 'stats'],
] as const
