import type { Backups, BackupsOptions } from './backups.js'

/** Backups of the database at `path`. Nothing is read or made before a method is called; the engine loads then. */
export function openBackups(options: BackupsOptions): Backups {
  const load = () => import('./sqlite/file/sqlite-backups.js').then((module) => new module.SqliteBackups(options))
  let loading: ReturnType<typeof load> | undefined
  const backups = () => (loading ??= load())
  return {
    create: async () => (await backups()).create(),
    list: async () => (await backups()).list(),
    verify: async (name) => (await backups()).verify(name),
    restore: async (name) => (await backups()).restore(name),
    recover: async () => (await backups()).recover(),
    isDue: async () => (await backups()).isDue(),
  }
}
