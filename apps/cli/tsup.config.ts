import { cpSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { appBundle } from '../../tsup.app.js'

export default defineConfig(
  appBundle({
    cores: ['src/oneshot.ts', '../../packages/storage/src/sqlite/sqlite-storage.ts'],
    apart: ['../../packages/tools/src/documents', '../../packages/web/src/page', '../../packages/plugins/src/child'],
    afterwards: () => cpSync('src/demo/recording.jsonl', 'dist/recording.jsonl'),
  }),
)
