import type { Command } from 'commander'

/** What can follow a command on its line. */
export interface CommandSpec {
  /** The words that lead to it, `hermes` first. */
  readonly path: readonly string[]
  readonly words: readonly { readonly word: string; readonly description: string }[]
}

/** Every command of the table, outermost first; hidden flags are left out. */
export function commandSpecs(command: Command, parents: readonly string[] = []): readonly CommandSpec[] {
  const path = [...parents, command.name()]
  const visible = command.createHelp().visibleCommands(command)
  const own = visible.filter((child) => child.name() !== 'help')
  const flags = (of: Command) =>
    of
      .createHelp()
      .visibleOptions(of)
      .map((option) => ({ word: option.long ?? option.short ?? '', description: option.description }))
  // Without a command the flags of the default one count.
  const implied = parents.length === 0 ? (own[0] ? flags(own[0]) : []) : []
  const names = own.map((child) => ({ word: child.name(), description: child.description() }))
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => ({ word, description })),
  )
  const words = [...names, ...choices, ...flags(command), ...implied]
  const unique = words.filter(({ word }, index) => words.findIndex((other) => other.word === word) === index)
  return [{ path, words: unique }, ...own.flatMap((child) => commandSpecs(child, path))]
}
