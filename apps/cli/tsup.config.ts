import { cpSync } from 'node:fs'
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { defineConfig } from 'tsup'
import { appBundle } from '../../tsup.app.js'

// What reads config.yaml, by its path as esbuild names it.
const yaml = relative(
  import.meta.dirname,
  createRequire(`${import.meta.dirname}/../../packages/config/`).resolve('yaml'),
)

export default defineConfig(
  appBundle({
    cores: ['src/oneshot.ts', '../../packages/storage/src/sqlite/sqlite-storage.ts'],
    start: {
      with: [
        'src/main.ts',
        'src/commands/chat.ts',
        '../../packages/runtime/src/app/run-app.ts',
        '../../packages/host/src/event-bus.ts',
        '../../packages/host/src/session-jobs.ts',
        '../../packages/models/src/metadata/index.ts',
        '../../packages/models/src/metadata/probe.ts',
        '../../packages/models/src/spending/index.ts',
        '../../packages/compression/src/index.ts',
        '../../packages/transports/src/wires/openai-client.ts',
      ],
      // What answers and calls of tools come to first, and a file of settings that has changed.
      later: [
        yaml,
        '../../packages/registry/src/schema-check.ts',
        '../../packages/safety/src/scan-context.ts',
        '../../packages/storage/src/stores/usage.ts',
        '../../packages/storage/src/sqlite/schema/sqlite-tables.ts',
        '../../packages/storage/src/sqlite/schema/sqlite-database.ts',
      ],
      runner: 'src/start/kept-code.ts',
    },
    apart: ['../../packages/tools/src/documents', '../../packages/web/src/page', '../../packages/plugins/src/child'],
    afterwards: () => cpSync('src/demo/recording.jsonl', 'dist/recording.jsonl'),
  }),
)
