import { type Invocation, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'

const OTHER_INDEX =
  /^(?:--(?:extra-)?index-url|--registry|--source|--find-links|--index|--default-index|--git)(?:=|$)|^-[if]$/
const ADDRESS = /^(?:git\+|git@|https?:\/\/|ssh:\/\/|github:|gitlab:)/

/** Whether programs come from an address in the command itself, instead of from where the project gets them. */
export function installsFromAddress({ name, args }: Invocation): boolean {
  const words = texts(args)
  if (name === 'git') return words.includes('clone') || (words.includes('submodule') && words.includes('add'))
  if (/^python[\d.]*$/.test(name) && words[0] === '-m' && words[1] === 'pip') return namesAddress(words.slice(2))
  return PROGRAMS.installers.includes(name) && namesAddress(words)
}

function namesAddress(words: readonly string[]): boolean {
  return words.some((word) => ADDRESS.test(word) || /@(?:git\+)?https?:\/\//.test(word) || OTHER_INDEX.test(word))
}
