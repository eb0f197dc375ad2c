import { inlineCode } from './inline-code.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'

/** All variables at once, in code. */
const WHOLE_ENVIRONMENT =
  /\bos\.environ\b(?!\s*(?:\[|\.(?:get|setdefault|pop)))|\bprocess\.env\b(?!\s*(?:\.|\[|\?\.))|\bENV\.to_h\b|\bENV\.inspect|Deno\.env\.toObject|\$_ENV\b(?!\[)|%ENV\b/

/** Whether code speaks of all variables at once. */
export function namesWholeEnvironment(code: string): boolean {
  return WHOLE_ENVIRONMENT.test(code)
}

/** Whether a program prints all variables: by what it is, or by the code it is given. */
export function printsEnvironment(invocation: Invocation): boolean {
  const { name, args } = invocation
  const words = texts(args)
  if (PROGRAMS.printVariables.has(name)) return readOptions(args).operands.length === 0
  if (name === 'compgen') return words.some((word) => /^-[a-z]*[ev]$/.test(word))
  if (/^(?:jq|gojq|jaq|yq)$/.test(name))
    return words.some((word) => /(?:^|[^.\w$])env\b(?!\s*[.[])|\$ENV\b(?!\s*[.[])/.test(word))
  if (/^[gmn]?awk$/.test(name)) return words.some((word) => /\bin\s+ENVIRON\b/.test(word))
  return inlineCode(invocation).some((code) => WHOLE_ENVIRONMENT.test(code))
}
