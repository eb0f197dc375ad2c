import type { HLJSApi } from 'highlight.js'
import core from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import lua from 'highlight.js/lib/languages/lua'
import makefile from 'highlight.js/lib/languages/makefile'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import shell from 'highlight.js/lib/languages/shell'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { Style } from '../render/style.js'
import type { Paint, Span } from './flow.js'

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  php,
  python,
  ruby,
  rust,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
}
/** What is looked at before the newest lines, so that a comment or text of several lines goes on. */
const CONTEXT_LINES = 60
/** Longer lines are data rather than code, and slow. Characters. */
const LONGEST_LINE = 1_000

/** Code of one language, line by line. */
export interface Highlighter {
  /** Lines that follow those before. */
  lines(lines: readonly string[]): readonly (readonly Span[])[]
}

/** Gives a highlighter for what a fence names its language; null where nothing is known of it. */
export function createHighlighters(style: Style): (language: string) => Highlighter | null {
  let highlighter: HLJSApi | null = null
  return (language) => {
    if (language === '') return null
    highlighter ??= withLanguages()
    return highlighter.getLanguage(language) ? createHighlighter(highlighter, language, style) : null
  }
}

function withLanguages(): HLJSApi {
  const highlighter = core.newInstance()
  for (const [name, definition] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, definition)
  return highlighter
}

function createHighlighter(highlighter: HLJSApi, language: string, style: Style): Highlighter {
  let context: readonly string[] = []
  return {
    lines(lines) {
      const coloured: (readonly Span[])[] = []
      for (let at = 0; at < lines.length; at += CONTEXT_LINES) {
        const next = lines.slice(at, at + CONTEXT_LINES)
        const before = context.filter((line) => line.length <= LONGEST_LINE)
        const short = next.map((line) => (line.length <= LONGEST_LINE ? line : ''))
        const { value } = highlighter.highlight([...before, ...short].join('\n'), { language, ignoreIllegals: true })
        const spans = linesOf(value, style).slice(before.length)
        coloured.push(
          ...next.map((line, index) =>
            line.length <= LONGEST_LINE ? (spans[index] ?? []) : [{ text: line, paint: plain }],
          ),
        )
        context = [...context, ...next].slice(-CONTEXT_LINES)
      }
      return coloured
    },
  }
}

const plain: Paint = (text) => text
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}

/** The library's own marks as spans, cut into lines. */
function linesOf(marked: string, style: Style): readonly (readonly Span[])[] {
  const lines: Span[][] = [[]]
  const open: Paint[] = [plain]
  for (const piece of marked.split(/(<span class="[^"]*">|<\/span>|\n)/)) {
    if (piece === '\n') lines.push([])
    else if (piece === '</span>') open.pop()
    else if (piece.startsWith('<span class="')) open.push(paintOf(piece.slice(13, -2), style) ?? open.at(-1)!)
    else if (piece !== '')
      lines
        .at(-1)!
        .push({ text: piece.replace(/&(?:amp|lt|gt|quot|#x27);/g, (name) => ENTITIES[name]!), paint: open.at(-1)! })
  }
  return lines
}

function paintOf(classes: string, style: Style): Paint | undefined {
  const scope = classes.replace(/^hljs-/, '').split(' ')[0]!
  switch (scope) {
    case 'comment':
    case 'quote':
    case 'doctag':
      return style.dim
    case 'keyword':
    case 'literal':
    case 'meta':
    case 'selector-tag':
    case 'name':
      return style.magenta
    case 'string':
    case 'regexp':
    case 'addition':
    case 'char':
      return style.green
    case 'number':
    case 'symbol':
    case 'bullet':
    case 'attr':
    case 'attribute':
    case 'variable':
      return style.cyan
    case 'title':
    case 'section':
    case 'built_in':
    case 'type':
    case 'class':
      return style.blue
    case 'deletion':
      return style.red
    default:
      return undefined
  }
}
