import { type EditOutcome, lineOf } from './apply-edit.js'
import { closestRegions, differsInWhitespace, type Region, visibleWhitespace } from './closest-regions.js'
import { toLf } from './line-ends.js'

const LOCATIONS = 5
const SNIPPET_CHARS = 80

/** Says that there are several places, and where. */
export function explainAmbiguity(outcome: Extract<EditOutcome, { type: 'ambiguous' }>, path: string): string {
  const { ranges, lfText } = outcome
  const places = ranges.slice(0, LOCATIONS).map((range) => {
    const snippet = lfText.slice(range.start, range.end).trim().split('\n', 1)[0]!
    return `  line ${lineOf(lfText, range)}: ${snippet.slice(0, SNIPPET_CHARS)}`
  })
  const more = ranges.length > LOCATIONS ? [`  and ${ranges.length - LOCATIONS} more`] : []
  const how = outcome.strategy === 'exact' ? '' : ` (${outcome.strategy})`
  const all = outcome.strategy === 'exact' ? ', or set replace_all=true to change every one' : ''
  const head = `old_string matches ${ranges.length} places in ${path}${how}; nothing was changed. Add surrounding lines until it is unique${all}:`
  return [head, ...places, ...more].join('\n')
}

/** Says that the text is not there, and what comes nearest. */
export async function explainMiss(original: string, oldString: string, path: string): Promise<string> {
  const search = toLf(oldString).text
  const regions = await closestRegions(toLf(original).text, search)
  const head = `old_string is not in ${path}; nothing was changed.`
  if (regions.length === 0) return `${head} Nothing in the file is like it: read the file before editing.`
  return [`${head} Did you mean:`, ...regions.map((region) => drawRegion(region, search))].join('\n')
}

function drawRegion(region: Region, search: string): string {
  const asked = search.replace(/\n$/, '')
  const draw = (lines: readonly string[]) =>
    lines.map((line, index) => `${region.firstLine + index}|${line.slice(0, 200)}`).join('\n')
  if (!differsInWhitespace(region.lines.join('\n'), asked)) return draw(region.lines)
  const marked = draw(region.lines.map(visibleWhitespace))
  return `${marked}\nonly whitespace differs (· space, → tab); you sent:\n${visibleWhitespace(asked)}`
}
