import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessInfo } from '@hermes/contracts/environment'
import { processStartTime } from './process-tree.js'

/** What is on disk about one background process, so that it is found again after a crash of the agent. */
export interface ProcessRecord extends ProcessInfo {
  /** Tells the process from a later one with the same number. */
  readonly startTime: string
  /** The agent that watches the process; `null` when it let go on purpose. */
  readonly owner: { readonly pid: number; readonly startTime: string } | null
  /** The process on another side that the one with `pid`, a client here, stands for. */
  readonly far?: RemoteProcessId
  /** Where the other side keeps what belongs to the process, which then needs no client here; `pid` is that of the other side. */
  readonly job?: string
}

/** A process on another side; `startTime` is `-` where nothing tells it from a later one with the same number. */
export interface RemoteProcessId {
  readonly pid: number
  readonly startTime: string
}

/** The files of one process: its record, its output, the exit status its shell leaves. */
export interface ProcessFiles {
  readonly record: string
  readonly log: string
  readonly exit: string
  /** What a client says about a process on another side. */
  readonly report: string
}

export function processFiles(directory: string, id: string): ProcessFiles {
  const base = join(directory, id)
  return { record: `${base}.json`, log: `${base}.log`, exit: `${base}.exit`, report: `${base}.report` }
}

/** This program, as `owner` of a record. */
export function thisOwner(): ProcessRecord['owner'] {
  return { pid: process.pid, startTime: processStartTime(process.pid) ?? '' }
}

/** Writes a record whole or not at all, readable only by the user. */
export function saveRecord(directory: string, record: ProcessRecord): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = processFiles(directory, record.id).record
  writeFileSync(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 })
  renameSync(`${path}.tmp`, path)
}

/** Records that no living agent watches. Files that are no records are passed over. */
export function abandonedRecords(directory: string): ProcessRecord[] {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch {
    return []
  }
  return names
    .filter((name) => /^proc_[0-9a-f]{8}\.json$/.test(name))
    .flatMap((name) => readRecord(join(directory, name)) ?? [])
    .filter(({ owner }) => owner === null || processStartTime(owner.pid) !== owner.startTime)
}

function readRecord(path: string): ProcessRecord | null {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8')) as ProcessRecord
    const isRecord = typeof record.id === 'string' && typeof record.command === 'string' && Number.isInteger(record.pid)
    return isRecord && record.pid > 1 && path.endsWith(`${record.id}.json`) ? record : null
  } catch {
    return null
  }
}

/** The exit status the shell of a process left, and when; `null` when there is none. */
export function readExit(files: ProcessFiles): { readonly exitCode: number; readonly atMs: number } | null {
  try {
    const text = readFileSync(files.exit, 'utf8')
    return /^\d+$/.test(text) ? { exitCode: Number(text), atMs: Math.round(statSync(files.exit).mtimeMs) } : null
  } catch {
    return null
  }
}

export function removeFiles(files: ProcessFiles): void {
  for (const path of Object.values(files)) rmSync(path, { force: true })
}
