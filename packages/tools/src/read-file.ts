import { MAX_IMAGE_BYTES } from '@hermes/contracts/conversation'
import type { FileStat } from '@hermes/contracts/environment'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import { ownFiles } from '@hermes/sandbox'
import type { FromSchema } from 'json-schema-to-ts'
import type { OversizedDocument } from './documents/document-kind.js'
import { openDocument } from './documents/open-document.js'
import { outsideNote, permitRead, readAction } from './files/file-access.js'
import type { ShownLines } from './files/file-ledger.js'
import { fileLedger } from './files/file-ledger.js'
import { lineIndexOf } from './files/line-index.js'
import type { LinePage } from './files/line-page.js'
import { readLinePage, textPage } from './files/line-page.js'
import { UNCHANGED } from './files/refusals.js'
import { missingFile } from './files/similar-names.js'
import { failure, plural } from './result-text.js'
import type { ToolSettings } from './settings.js'
import { defaultToolSettings } from './settings.js'
import { fileSources } from './terminal/outside.js'
import { showBytes } from './vision-analyze.js'

/** Standard input and terminals answer only when somebody types; endless devices never end. */
const DEVICE = /^\/dev\/(?!shm\/)|^\/proc\/[^/]+\/(?:task\/[^/]+\/)?fd\/[0-2]$/
const LISTED = 20
/** From here on a page of many lines is rarely what is looked for. */
const LARGE_BYTES = 512_000
const LARGE_LINES = 200

const parameters = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    offset: { type: 'integer', default: 1, description: 'First line' },
    limit: { type: 'integer', default: 500, description: 'At most 2000' },
  },
  required: ['path'],
} as const

type Args = FromSchema<typeof parameters>

/** Reads a page of a text file with line numbers. */
export const createReadFileTool = (settings: ToolSettings = defaultToolSettings) =>
  defineTool<Args>({
    name: 'read_file',
    toolset: 'file',
    description:
      'Read a text file as "N|text" lines ("N|" is not in it), large ones in pages; not with cat, head or sed. PDF, Office files, notebooks as text; images are shown.',
    parameters,
    effect: 'read',
    external: true,
    sources: (args, context) => fileSources(args.path, context),
    concurrency: 'path',
    icon: '📖',
    maxResultChars: settings.fileReadMaxChars + 2000,
    paths: (args, context) => [context.environment.resolve(args.path)],
    actions: (args, context) => [readAction(context, args.path)],
    summarize: (args) => `read ${args.path}`,
    execute: (args, context) => readFile(args, context, settings),
  })

async function readFile(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const { environment } = context
  const path = environment.resolve(args.path)
  if (DEVICE.test(path)) return failure(isDevice(path))
  const real = await permitRead(context, path)
  if (DEVICE.test(real)) return failure(isDevice(path))
  const stat = await environment.stat(real)
  if (!stat) return failure(await missingFile(environment, path))
  if (stat.type === 'directory') return listDirectory(context, path, real)
  if (stat.type === 'other')
    return failure(`${path} is not a regular file (a device, pipe or socket), so it is not read.`)

  const offset = Math.max(1, args.offset)
  const limit = Math.min(Math.max(1, args.limit), settings.maxLines)
  const ledger = fileLedger(context.state)
  const key = `${real}\0${offset}\0${limit}\0${context.state.compactions()}`
  const repeats = ledger.repeats(key, stat.version)
  if (repeats > 0) return repeated(path, repeats)
  const { maxLineLength } = settings
  const request = { path: real, sizeBytes: stat.sizeBytes, offset, limit, maxLineLength, signal: context.signal }
  const document = await openDocument(context, { real, stat, settings })
  if (document?.type === 'oversized') return failure(isOversized(path, document))
  const page = document
    ? textPage(document.text, request)
    : await readLinePage(environment, request, () => lineIndexOf(context.state, real, stat.version))
  if (!page) return failure(await missingFile(environment, path))
  if ('kind' in page) return binary(context, { path, real, kind: page.kind, stat, settings })
  const outside = await outsideNote(context, args.path)
  const result = render({ path, stat, offset, limit, page, settings, what: document?.what ?? null, outside })
  if (result.isError) return result
  ledger.read(real, stat.version, shownLines(offset, page))
  ledger.delivered(key, stat.version)
  const own = ownFiles(context.state).sourcesOf(real, stat.version)
  return own ? { ...result, sources: own } : result
}

/** A line that was cut is not counted as read, so that the page ends before its own first line. */
function shownLines(first: number, { lines, totalLines, complete, clampedLines }: LinePage): ShownLines {
  const last = clampedLines > 0 ? first - 1 : first + lines.length - 1
  return { first, last, isEnd: complete && last >= totalLines }
}

const isOversized = (path: string, { what, limit }: OversizedDocument) =>
  `${path} is a ${what} that takes more than ${limit} to read, so its text is not shown. Take out what you need with a command in terminal, for example some pages with pdftotext, or ask for another form of it.`

const isDevice = (path: string) => `${path} is a device; reading it could block for ever. Read a regular file.`

async function binary(context: ToolContext, file: BinaryFile): Promise<ToolResult> {
  const { path, kind, stat, settings } = file
  if (isShowable(kind) && (settings.describeImage || (await settings.seesImages(context.sessionId))))
    return showImage(context, file)
  return failure(
    `${path} is not text but ${kind}, ${plural(stat.sizeBytes, 'byte')}. Use a command in terminal to inspect it.`,
  )
}

interface BinaryFile {
  readonly path: string
  readonly real: string
  readonly kind: string
  readonly stat: FileStat
  readonly settings: ToolSettings
}

function repeated(path: string, repeats: number): ToolResult {
  if (repeats === 1) {
    return { text: `${path} ${UNCHANGED}`, data: { path, unchanged: true } }
  }
  return failure(
    `${path} is unchanged and these lines were read already: work with what you have. If they are no longer in the conversation, this same call gives them once more.`,
  )
}

async function listDirectory(context: ToolContext, path: string, real: string): Promise<ToolResult> {
  const entries = (await context.environment.list(real)) ?? []
  const names = entries.slice(0, LISTED).map((entry) => (entry.type === 'directory' ? `${entry.name}/` : entry.name))
  const more = entries.length > LISTED ? ` and ${entries.length - LISTED} more` : ''
  const content = names.length === 0 ? 'It is empty.' : `It holds ${names.sort().join(', ')}${more}.`
  return failure(`${path} is a directory. ${content} List files with search_files and target="files".`)
}

interface Rendering {
  readonly path: string
  readonly stat: FileStat
  readonly offset: number
  readonly limit: number
  readonly page: LinePage
  readonly settings: ToolSettings
  /** What kind of document the lines are the text of; `null` for a text file. */
  readonly what: string | null
  /** Where the path leads, when that is out of the workspace. */
  readonly outside: string | null
}

function render({ path, stat, offset, limit, page, settings, what, outside }: Rendering): Exclude<ToolResult, string> {
  const { lines, totalLines } = page
  const total = page.complete ? String(totalLines) : `more than ${totalLines}`
  const content = lines.map((line, index) => `${offset + index}|${line}`).join('\n')
  if (content.length > settings.fileReadMaxChars) {
    const fitting = Math.max(1, Math.floor((lines.length * settings.fileReadMaxChars * 0.9) / content.length))
    return failure(
      `These ${lines.length} lines of ${path} come to ${content.length} characters, over the limit of ${settings.fileReadMaxChars}. The file has ${total} lines, ${stat.sizeBytes} bytes. Read fewer at once (limit=${fitting}), or find the place with search_files first.`,
    )
  }
  const last = offset + lines.length - 1
  const truncated = lines.length > 0 && (!page.complete || last < totalLines)
  const data = {
    path,
    content,
    total_lines: totalLines,
    file_size: stat.sizeBytes,
    truncated,
    ...(truncated ? { next_offset: last + 1 } : {}),
    ...(page.complete ? {} : { total_lines_is_lower_bound: true }),
    ...(what === null ? {} : { extracted_from: what }),
  }
  const isLarge = truncated && stat.sizeBytes > LARGE_BYTES && limit > LARGE_LINES
  const notes = [
    ...hints({ offset, last, total, page, path, truncated, what }),
    ...(isLarge ? ['The file is large: find the place with search_files and read only that.'] : []),
    ...(outside === null ? [] : [outside]),
  ]
  if (notes.length === 0) return { data, text: content }
  return { data, text: `${lines.length === 0 ? '' : `${content}\n`}[${notes.join(' ')}]` }
}

function hints(at: {
  readonly offset: number
  readonly last: number
  readonly total: string
  readonly page: LinePage
  readonly path: string
  readonly truncated: boolean
  readonly what: string | null
}): readonly string[] {
  if (at.what !== null && at.page.totalLines === 0) return [`${at.path} is a ${at.what}; it holds no text`]
  if (at.page.complete && at.page.totalLines === 0) return [`${at.path} is empty`]
  if (at.page.lines.length === 0 && !at.page.complete)
    return [
      `Line ${at.offset} lies too deep in ${at.path}, which is UTF-16: make a copy in UTF-8 with a command in terminal.`,
    ]
  if (at.page.lines.length === 0) return [`No line ${at.offset}: the file has ${at.total} lines`]
  const notes: string[] = at.what === null ? [] : [`The text of a ${at.what}.`]
  if (at.truncated) notes.push(`Lines ${at.offset}-${at.last} of ${at.total}. Continue with offset ${at.last + 1}.`)
  else if (at.offset > 1) notes.push(`Lines ${at.offset}-${at.last} of ${at.total}; this is the end.`)
  if (at.page.clampedLines > 0) notes.push(`${plural(at.page.clampedLines, 'long line')} cut.`)
  return notes
}

/** Whether models can be shown this kind of file. */
const isShowable = (kind: string): boolean => /^(?:PNG|JPEG|GIF|WebP) image$/.test(kind)

/** The image itself for a model that sees, else what it shows. */
async function showImage(context: ToolContext, { path, real, kind, stat, settings }: BinaryFile): Promise<ToolResult> {
  if (stat.sizeBytes > MAX_IMAGE_BYTES)
    return failure(
      `${path} is a ${kind} of ${plural(stat.sizeBytes, 'byte')}; at most ${MAX_IMAGE_BYTES} are shown. Make a smaller copy with a command in terminal, and read that.`,
    )
  const bytes = await context.environment.read(real, { offset: 0, length: MAX_IMAGE_BYTES, noLinks: true })
  if (!bytes) return failure(`${path} disappeared while it was read.`)
  return showBytes(bytes, { place: path, question: '', context, settings })
}
