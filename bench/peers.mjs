// Programs of others that are measured in the same run, where they are installed: they are too large to come with every clone.
//   npm install --prefix bench/.peers --ignore-scripts $(node -p 'Object.entries(require("./bench/peers.json")).map((one) => one.join("@")).join(" ")')
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const wanted = JSON.parse(readFileSync(join(import.meta.dirname, 'peers.json'), 'utf8'))

/**
 * The folder of one, in its version of `peers.json`; `null`, and a line that says so, where it is not installed.
 * @param {string} name @param {string} [folder] where `node_modules` is
 */
export function peerFolder(name, folder = process.env.HERMES_BENCH_PEERS ?? join(import.meta.dirname, '.peers')) {
  const found = join(folder, 'node_modules', name)
  const manifest = join(found, 'package.json')
  const version = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : null
  if (version === wanted[name]) return found
  console.error(
    `bench: ${name} ${wanted[name]} is not in ${folder} and left out (bench/peers.mjs says how it comes there)`,
  )
  return null
}
