import { defineConfig } from 'tsup'
import { appBundle } from '../../tsup.app.js'

export default defineConfig(appBundle())
