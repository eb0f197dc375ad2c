/** One complaint about a file. */
export interface Finding {
  readonly line: number
  readonly rule: string
  readonly message: string
}

/** A linter that projects bring along. */
export interface Linter {
  readonly name: string
  readonly files: RegExp
  /** Names of files that say a project uses it. */
  readonly configs: readonly string[]
  /** Where its program is, below the folder of its configuration; the first that is there counts. */
  readonly programs: readonly string[]
  /** The words before the file. */
  readonly args: readonly string[]
  /** Errors in what it printed; warnings are left out. */
  readonly parse: (output: string) => readonly Finding[]
}

const SCRIPTS = /\.[cm]?[jt]sx?$/

/** In the order in which they are looked for: the fastest first. */
export const LINTERS: readonly Linter[] = Object.freeze([
  {
    name: 'biome',
    files: /\.(?:[cm]?[jt]sx?|jsonc?|css|graphql)$/,
    configs: ['biome.json', 'biome.jsonc'],
    programs: ['node_modules/.bin/biome'],
    args: ['lint', '--reporter=github', '--colors=off'],
    parse: (output: string) =>
      [...output.matchAll(/^::error title=([^,]*),[^\n]*?line=(\d+),[^\n]*?::([^\n]*)$/gm)].map(
        ([, rule = '', line, message = '']) => ({ rule, line: Number(line), message: decodeWorkflow(message) }),
      ),
  },
  {
    name: 'eslint',
    files: SCRIPTS,
    configs: [
      ...['eslint.config.js', 'eslint.config.mjs', 'eslint.config.cjs', 'eslint.config.ts', 'eslint.config.mts'],
      ...['.eslintrc', '.eslintrc.js', '.eslintrc.cjs', '.eslintrc.json', '.eslintrc.yml', '.eslintrc.yaml'],
    ],
    programs: ['node_modules/.bin/eslint'],
    args: ['--format', 'json'],
    parse: parseEslint,
  },
  {
    name: 'ruff',
    files: /\.pyi?$/,
    configs: ['ruff.toml', '.ruff.toml', 'pyproject.toml'],
    programs: ['.venv/bin/ruff', 'venv/bin/ruff'],
    args: ['check', '--output-format', 'concise', '--no-fix', '--quiet'],
    parse: (output: string) =>
      [...output.matchAll(/^.+?:(\d+):\d+: (\S+?):? (?:\[\*\] )?(.+)$/gm)].map(([, line, rule = '', message = '']) => ({
        rule,
        line: Number(line),
        message,
      })),
  },
])

/** @see https://eslint.org/docs/latest/use/formatters/#json */
function parseEslint(output: string): readonly Finding[] {
  const start = output.indexOf('[{')
  if (start === -1) return []
  const files = JSON.parse(output.slice(start)) as readonly {
    readonly messages: readonly {
      readonly ruleId: string | null
      readonly severity: number
      readonly message: string
      readonly line?: number
    }[]
  }[]
  return files.flatMap(({ messages }) =>
    messages
      .filter(({ severity }) => severity === 2)
      .map(({ ruleId, message, line = 1 }) => ({ rule: ruleId ?? 'parse', message, line })),
  )
}

/** Percent, carriage return and line feed are written so in workflow commands. */
function decodeWorkflow(text: string): string {
  return text.replaceAll('%0A', ' ').replaceAll('%0D', '').replaceAll('%25', '%')
}
