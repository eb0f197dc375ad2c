// How a script was called. What `--help` prints is the comment at the head of the script.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/**
 * Ends the script after `--help`, and with exit code 2 after an option it does not know.
 * @param {string} script its file
 * @param {import('node:util').ParseArgsOptionsConfig} [options] besides `--help`
 * @param {{ allowPositionals?: boolean }} [others]
 */
export function readOptions(script, options = {}, { allowPositionals = false } = {}) {
  try {
    const help = /** @type {const} */ ({ type: 'boolean', short: 'h' })
    const { values, positionals } = parseArgs({ options: { ...options, help }, allowPositionals })
    if (!values.help) return { values, positionals }
    console.log(usage(script))
    process.exit(0)
  } catch (error) {
    console.error(`${error.message}\n\n${usage(script)}`)
    process.exit(2)
  }
}

function usage(script) {
  const [head] = readFileSync(script, 'utf8').split(/^(?!\/\/)/m)
  return head.replace(/^\/\/ ?/gm, '').trimEnd()
}
