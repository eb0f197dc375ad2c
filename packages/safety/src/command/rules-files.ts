import { isCriticalPath } from './context.js'
import { hasOption, type Invocation, readOptions, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'
import type { CommandRule } from './rule.js'

/** Commands that lose or expose files. */
export const FILE_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'recursive-delete',
    reason: 'deletes folders with everything in them',
    programs: ['rm', 'srm'],
    matches: ({ args }: Invocation) =>
      hasOption(readOptions(args), 'rR', 'recursive') || args.some((word) => word.splits && /^[$`]/.test(word.text)),
  },
  {
    rule: 'recursive-delete',
    reason: 'deletes folders with everything in them',
    programs: ['rd', 'rmdir', 'del', 'erase', 'Remove-Item', 'ri'],
    matches: ({ args }: Invocation) => texts(args).some((word) => /^(?:\/s|-r(?:ec\w*)?)$/i.test(word)),
  },
  {
    rule: 'recursive-delete',
    reason: 'deletes folders with everything in them',
    programs: PROGRAMS.deleters,
    matches: ({ name, args }: Invocation) =>
      !texts(args).every((word) => /^-/.test(word)) &&
      (!/^(?:gio|kioclient5?)$/.test(name) || /^(?:trash|remove|move|mv|rm|del)$/.test(texts(args)[0]!)),
  },
  {
    rule: 'bulk-delete',
    reason: 'deletes what it packs away or moves',
    programs: ['tar', 'bsdtar', 'zip', '7z', '7za', 'rclone', 'rsync', 'mc'],
    matches: ({ name, args }: Invocation) =>
      texts(args).some((word) =>
        name === 'zip'
          ? /^-[a-zA-Z]*m[a-zA-Z]*$|^--move$/.test(word)
          : /^--remove-(?:files|source-files)|^-sdel$|^(?:purge|moveto|move|cleanup|delete|deletefile|rmdirs)$/.test(
              word,
            ),
      ),
  },
  {
    rule: 'bulk-delete',
    reason: 'deletes every file that a search finds',
    programs: ['find', 'fd', 'fdfind'],
    matches: ({ args }: Invocation) => texts(args).includes('-delete'),
  },
  {
    rule: 'bulk-delete',
    reason: 'deletes every file that a search finds',
    programs: ['rm', 'rmdir', 'unlink', 'shred'],
    matches: ({ via }: Invocation) => via !== null,
  },
  {
    rule: 'bulk-delete',
    reason: 'deletes files that the source does not have',
    programs: ['rsync', 'rclone'],
    matches: ({ args }: Invocation) => texts(args).some((word) => /^(?:--del(?:ete.*)?|sync|purge|delete)$/.test(word)),
  },
  {
    rule: 'shred',
    reason: 'destroys files beyond recovery',
    programs: ['shred', 'srm', 'wipe'],
    matches: () => true,
  },
  {
    rule: 'raw-copy',
    reason: 'writes raw blocks',
    programs: ['dd', 'dcfldd'],
    matches: ({ args }: Invocation) => texts(args).some((word) => word.startsWith('of=') && word !== 'of=/dev/null'),
  },
  {
    rule: 'format-disk',
    reason: 'changes or formats a disk',
    matches: ({ name, args }: Invocation) =>
      args.length > 0 &&
      !texts(args).some((word) => /^(?:--help|-V|--version|-l|--list)$/.test(word)) &&
      /^(?:mkfs(?:\..+)?|mke2fs|newfs(?:_.+)?|mkswap|fdisk|sfdisk|parted|diskpart|cryptsetup|lvremove|vgremove|pvremove)$/.test(
        name,
      ),
  },
  {
    rule: 'format-disk',
    reason: 'destroys volumes, snapshots or keys',
    programs: ['zfs', 'zpool', 'btrfs', 'snapper', 'gpg', 'gpg2'],
    matches: ({ name, args }: Invocation) => {
      const words = texts(args)
      if (name.startsWith('gpg')) return words.some((word) => /^--delete-(?:secret|key)/.test(word))
      return words.slice(0, 3).some((word) => /^(?:destroy|delete|rollback|labelclear|undochange)$/.test(word))
    },
  },
  {
    rule: 'world-writable',
    reason: 'lets every user of the machine write',
    programs: ['chmod', 'install', 'mkdir'],
    matches: ({ name, args }: Invocation) => {
      const words = texts(args)
      const input = words.find((_, at) => /^(?:-m|--mode)$/.test(words[at - 1] ?? ''))
      const joined = words.find((word) => /^(?:-m\d|--mode=)/.test(word))?.replace(/^(?:-m|--mode=)/, '')
      const first = readOptions(args.filter((word) => !/^-[rwxst]/.test(word.text))).operands[0]
      const mode = (name === 'chmod' ? first : (input ?? joined)) ?? ''
      return (
        /^[0-7]*[2367]$/.test(mode) ||
        /(?:^|,)(?:[ug]*[oa][ugoa]*|)[+=][rxst]*w/.test(mode) ||
        /[+=]\w*s/.test(mode) ||
        /^[4-7][0-7]{3}$/.test(mode)
      )
    },
  },
  {
    rule: 'change-owner',
    reason: 'changes the owner to root, or that of system folders',
    programs: ['chown', 'chgrp', 'chmod'],
    matches: ({ name, args, context }: Invocation) => {
      const options = readOptions(args)
      const [owner = '', ...paths] = options.operands
      if (name !== 'chmod' && /^(?:root|0)(?:[:.]|$)/.test(owner)) return true
      return hasOption(options, 'R', 'recursive') && paths.some((path) => isCriticalPath(path, context))
    },
  },
])
