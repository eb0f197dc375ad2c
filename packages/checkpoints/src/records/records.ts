import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import type { Checkpoint } from './record.js'

const NAME = /^(\d{6,})\.json$/

/** The checkpoints of one workspace, a small file each. */
export class Records {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Oldest first. */
  list(): readonly Checkpoint[] {
    return readdirSync(this.#folder)
      .filter((file) => NAME.test(file))
      .sort()
      .map((file) => JSON.parse(readFileSync(`${this.#folder}/${file}`, 'utf8')) as Checkpoint)
  }

  /** The number of the next one; numbers of removed ones are not used again. */
  nextNumber(): number {
    return Math.max(readNumber(`${this.#folder}/next`), (this.list().at(-1)?.number ?? 0) + 1)
  }

  write(record: Checkpoint): void {
    if (record.number >= this.nextNumber()) replace(`${this.#folder}/next`, String(record.number + 1))
    replace(this.#path(record.number), JSON.stringify(record))
  }

  remove({ number }: Checkpoint): void {
    rmSync(this.#path(number), { force: true })
  }

  #path(number: number): string {
    return `${this.#folder}/${String(number).padStart(6, '0')}.json`
  }
}

/** What is too much: the oldest, and those that nobody gave a name first. */
export function excessRecords(records: readonly Checkpoint[], max: number): readonly Checkpoint[] {
  const count = Math.max(0, records.length - max)
  const unnamed = records.filter(({ label }) => label === null)
  const named = records.filter(({ label }) => label !== null)
  return [...unnamed, ...named].slice(0, count)
}

/**
 * The checkpoint a person or a model means: a number, or a label (the newest that has it).
 * @throws HermesError `checkpoint.unknown` naming what there is.
 */
export function findCheckpoint(records: readonly Checkpoint[], wanted: string): Checkpoint {
  const name = wanted.trim().replace(/^#/, '')
  const found = records.findLast(({ label }) => label === name) ?? records.find(({ number }) => String(number) === name)
  if (found) return found
  const there = records
    .slice(-5)
    .map(({ number, label }) => (label === null ? String(number) : `${number} (${label})`))
    .join(', ')
  throw new HermesError(
    there === ''
      ? 'There is no checkpoint of this folder yet.'
      : `There is no checkpoint "${wanted}" of this folder. The newest are: ${there}.`,
    { code: 'checkpoint.unknown', details: { wanted } },
  )
}

function readNumber(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || 1
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 1
    throw error
  }
}

function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
