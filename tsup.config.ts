// One build for every library: each source export of the package becomes an entry, dependencies stay outside.
import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, { '@hermes/source'?: string }>
}
const entry = Object.values(manifest.exports).flatMap((target) => target['@hermes/source'] ?? [])

export default defineConfig({
  entry,
  format: 'esm',
  target: 'node22',
  platform: 'node',
  splitting: true,
  sourcemap: false,
  clean: true,
  dts: false,
  // `node:sqlite` has no other name.
  removeNodeProtocol: false,
  outDir: 'dist',
})
