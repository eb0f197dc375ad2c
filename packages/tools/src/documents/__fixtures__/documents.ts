import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strToU8 } from 'fflate'
import { call, createToolContext, temporaryEnvironment } from '../../__fixtures__/test-context.js'
import { createReadFileTool } from '../../index.js'
import { defaultToolSettings, type ToolSettings } from '../../settings.js'

/** A folder with a tool that reads what is put there. */
export async function setup(settings: Partial<ToolSettings> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment })
  const tool = createReadFileTool({ ...defaultToolSettings, ...settings })
  const put = (name: string, content: string | Uint8Array) => writeFile(join(folder, name), content)
  return { folder, put, read: (path: string, more = {}) => call(tool, { path, ...more }, context) }
}

/** The lines without their numbers and without the note at the end. */
export const linesOf = ({ text }: { readonly text: string }) =>
  text
    .split('\n')
    .filter((line) => /^\d+\|/.test(line))
    .map((line) => line.replace(/^\d+\|/, ''))

/** A PDF of pages with one line each, all of them `times` over. @see ISO 32000-1, 7.5 */
export function pdf(pages: readonly string[], times = 1): string {
  const kids = `${pages.map((_, at) => `${4 + 2 * at} 0 R`).join(' ')} `.repeat(times)
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages.length * times}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...pages.flatMap((line, at) => {
      const drawing = line === '' ? '' : `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * at} 0 R>>`,
        `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
      ]
    }),
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, at) => {
    const offset = text.length
    text += `${at + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`
}

export const sheet = (rows: string) => strToU8(`<worksheet><sheetData>${rows}</sheetData></worksheet>`)
export const WORKBOOK = {
  'xl/workbook.xml': strToU8(
    '<workbook><sheets><sheet name="Prices &amp; more" sheetId="1" r:id="rId2"/><sheet name="Empty" sheetId="2" r:id="rId1"/></sheets></workbook>',
  ),
  'xl/_rels/workbook.xml.rels': strToU8(
    '<Relationships><Relationship Id="rId1" Target="worksheets/sheet2.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet1.xml"/></Relationships>',
  ),
  'xl/sharedStrings.xml': strToU8(
    '<sst><si><t>Apple</t></si><si><r><t>Pe</t></r><r><t xml:space="preserve">ar </t></r></si></sst>',
  ),
  'xl/worksheets/sheet1.xml': sheet(
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1"><f>1+2</f><v>3</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="inlineStr"><is><t>a&lt;b</t></is></c></row>',
  ),
  'xl/worksheets/sheet2.xml': sheet(''),
}
