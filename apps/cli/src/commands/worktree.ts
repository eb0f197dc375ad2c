import { type ExecFileException, execFile } from 'node:child_process'
import {
  leaveWorktree,
  makeWorktree,
  newName,
  plainShell,
  pruneTable,
  type RunShell,
  worktreeTable,
} from '@hermes/commands/worktree'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { renderTable } from '../render/command-table.js'

const MAX_BYTES = 10_000_000

/** The worktrees of the repository around this folder, and what would be lost with each. */
export async function listed(io: Io, { json = false }: { readonly json?: boolean }): Promise<number> {
  return show(io, await worktreeTable(shellOf(io), io.cwd), json)
}

/** Takes away those with which nothing would be lost; with `dryRun` it only says so. */
export async function prune(
  io: Io,
  { json = false, dryRun = false }: { readonly json?: boolean; readonly dryRun?: boolean },
): Promise<number> {
  return show(io, await pruneTable(shellOf(io), io.cwd, { isTrial: dryRun }), json)
}

/** Does something in a new worktree; that goes afterwards where nothing would be lost, else the person is told where it is. */
export async function inWorktree(io: Io, work: (io: Io) => Promise<number>): Promise<number> {
  const run = shellOf(io)
  const made = await makeWorktree(run, io.cwd, { name: newName(), pid: process.pid })
  try {
    return await work({ ...io, cwd: made.cwd })
  } finally {
    io.stderr.write(`${await leaveWorktree(run, made)}\n`)
  }
}

function show(io: Io, table: Awaited<ReturnType<typeof worktreeTable>>, json: boolean): number {
  if (json) for (const { data } of table.rows) io.stdout.write(`${JSON.stringify(data)}\n`)
  else if (table.rows.length === 0) io.stderr.write(`${table.empty}\n`)
  else io.stdout.write(renderTable(table, io.stdout))
  return EXIT.ok
}

/** git with the settings of the person, and without what a repository names. */
function shellOf({ env }: Pick<Io, 'env'>): RunShell {
  return plainShell(
    (command, cwd) =>
      new Promise((resolve) => {
        const done = (error: ExecFileException | null, stdout: string, stderr: string) => {
          const failed = typeof error?.code === 'number' ? error.code : 1
          resolve({ output: error ? `${stdout}${stderr}` : stdout, exitCode: error ? failed : 0 })
        }
        execFile('/bin/sh', ['-c', command], { cwd, env: { ...env }, maxBuffer: MAX_BYTES }, done)
      }),
  )
}
