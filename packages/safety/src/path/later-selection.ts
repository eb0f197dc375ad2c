import { posix } from 'node:path'
import { isMakefile, makeIncludes } from './make-includes.js'
import { isLaterFolder, mayHoldLaterFiles, surfaceOf } from './surfaces.js'

/** The files of a workspace that run or instruct later, or may; paths are from its root, with slashes. One object, so that what was read is kept. */
export const LATER_FILES = Object.freeze({
  holds: (path: string): boolean =>
    (surfaceOf(path) !== null && !path.endsWith('.sample')) || posix.basename(path) === 'package.json',
  enters: mayHoldLaterFiles,
  holdsLink: isLaterFolder,
  namesOthers: isMakefile,
  named: makeIncludes,
})
