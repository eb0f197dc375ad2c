/** What can follow `/skills`. */
export const VERBS = [
  ...['list', 'inspect', 'create', 'edit', 'delete', 'config'],
  ...['search', 'install', 'accept', 'audit', 'update', 'uninstall', 'packs', 'snapshot', 'publish'],
  ...['pending', 'approve', 'reject', 'diff', 'stats'],
] as const
