// What a snapshot leaves out: folders that a tool can make again and that are heavy, and the state of version control itself.

const VERSION_CONTROL = ['.git', '.hg', '.svn', '.jj', '.sl', '.bzr', 'CVS']
const DEPENDENCIES = ['node_modules', 'bower_components', 'jspm_packages', '.pnpm-store', '.yarn', 'Pods', '.venv']
const CACHES = [
  ...['__pycache__', '.mypy_cache', '.pytest_cache', '.ruff_cache', '.tox', '.nox', '.eggs', '.ipynb_checkpoints'],
  ...['.next', '.nuxt', '.svelte-kit', '.turbo', '.parcel-cache', '.cache', '.angular', '.gradle', '.terraform'],
  ...['.dart_tool', '.nyc_output', '.bazel', '.stack-work', 'DerivedData'],
]
const EXCLUDED_FOLDERS: ReadonlySet<string> = new Set([...VERSION_CONTROL, ...DEPENDENCIES, ...CACHES])

/** Files by which a folder says itself that it can be made again. @see https://bford.info/cachedir/ */
const MARKERS = ['CACHEDIR.TAG', 'pyvenv.cfg']

/** Whether a folder of this name is left out wherever it is. */
export function isExcludedFolder(name: string): boolean {
  return EXCLUDED_FOLDERS.has(name)
}

/** Whether a folder that holds these names is left out. */
export function saysItIsACache(names: readonly string[]): boolean {
  return MARKERS.some((marker) => names.includes(marker))
}
