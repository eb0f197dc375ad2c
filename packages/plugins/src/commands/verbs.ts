/** The words of `/plugins`. */
export const VERBS = [
  'list',
  'install',
  'uninstall',
  'update',
  'enable',
  'disable',
  'create',
  'validate',
  'doctor',
  'reload',
] as const
