// Starts what is measured, in a scratch folder of its own, and turns samples into figures.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const folder = import.meta.dirname
export const BIN = join(folder, '../apps/cli/dist/bin.js')
const FILES = 50
const FILE_BYTES = 2048

/** A scratch workspace with a file for each tool turn. */
export function createWorkspace(directory) {
  mkdirSync(join(directory, 'workspace'), { recursive: true })
  mkdirSync(join(directory, 'tmp'), { recursive: true })
  const line = 'The quick brown fox jumps over the lazy dog, again.\n'
  const text = line.repeat(Math.ceil(FILE_BYTES / line.length)).slice(0, FILE_BYTES)
  const files = Array.from({ length: FILES }, (_, index) => join(directory, 'workspace', `notes-${index}.txt`))
  for (const file of files) writeFileSync(file, text)
  return { directory, cwd: join(directory, 'workspace'), files }
}

/** Command lines of the contestants. `hermes` takes further arguments of `chat`. */
export const CONTESTANTS = {
  bare: (baseUrl) => [join(folder, 'floors/bare.mjs'), baseUrl, 'Read the notes.'],
  sdk: (baseUrl) => [join(folder, 'floors/sdk.mjs'), baseUrl, 'Read the notes.'],
  hermes: (baseUrl, ...more) => [
    BIN,
    'chat',
    ...more,
    '-q',
    'Read the notes.',
    '--base-url',
    baseUrl,
    '--provider',
    'custom',
    '-m',
    'bench',
    '--yolo',
  ],
}

/** What a contestant sees of the world: a home of its own. */
export function scratchEnvironment(workspace, home = join(workspace.directory, 'home')) {
  mkdirSync(join(home, 'tmp'), { recursive: true })
  return {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: home,
    HERMES_HOME: join(home, '.hermes'),
    TMPDIR: join(home, 'tmp'),
  }
}

/**
 * Runs `node ARGS` to its end.
 * @param {string[]} args
 * @param {{ workspace: { directory: string, cwd: string }, home?: string, measureMemory?: boolean }} options `home` defaults to one
 *   shared by all runs of the workspace; caches live in it
 * @returns {Promise<{ startedMs: number, wallMs: number, peakBytes: number | null }>}
 * @throws when it exits with another code than 0
 */
export async function runNode(args, { workspace, home = join(workspace.directory, 'home'), measureMemory = false }) {
  const peakFile = join(workspace.directory, 'peak')
  const preload = measureMemory ? ['--import', join(folder, 'peak.mjs')] : []
  const env = { ...scratchEnvironment(workspace, home), BENCH_PEAK_FILE: peakFile }
  const startedMs = performance.timeOrigin + performance.now()
  const child = spawn(process.execPath, [...preload, ...args], {
    cwd: workspace.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  const wallMs = performance.timeOrigin + performance.now() - startedMs
  if (code !== 0) throw new Error(`exit ${code}: node ${args.join(' ')}\n${stdout}${stderr}`)
  return { startedMs, wallMs, peakBytes: measureMemory ? Number(readFileSync(peakFile, 'utf8')) : null }
}

/**
 * Runs each contestant once per round, in turn, after one round that is thrown away.
 * @template T
 * @param {number} rounds
 * @param {Record<string, (round: number) => Promise<T>>} contestants
 * @returns {Promise<Record<string, T[]>>} samples by contestant, in the order of rounds
 */
export async function interleave(rounds, contestants) {
  const samples = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const sample = await run(round)
      if (round > 0) samples[name].push(sample)
    }
  }
  return samples
}

/** @param {number[]} values @returns {{ min: number, median: number, max: number }} */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { min: sorted[0], median, max: sorted.at(-1) }
}

/** Quotients of the samples of each round. */
export function ratios(values, floors) {
  return values.map((value, index) => value / floors[index])
}
