import { PROGRAMS } from './program-tables.js'

/** Whether the words of a program say something instead of naming what to run. */
export function onlySays(name: string): boolean {
  return PROGRAMS.say.has(name)
}

/** Whether a program is one of those that rules know, or that do nothing to a path by being given it. */
export function isKnownProgram(name: string): boolean {
  return (
    PROGRAMS.known.has(name) ||
    PROGRAMS.say.has(name) ||
    /^(?:python|pip|lua|ruby|php|node|clang|gcc|g\+\+)[\d.-]+$/.test(name)
  )
}
