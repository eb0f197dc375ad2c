import { cpSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { appBundle } from '../../tsup.app.js'

export default defineConfig(appBundle(() => cpSync('src/demo/recording.jsonl', 'dist/recording.jsonl')))
