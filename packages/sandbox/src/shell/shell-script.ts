/** A program that runs command lines, and the arguments that keep it from reading start-up files. */
export interface ShellProgram {
  readonly path: string
  readonly args: readonly string[]
}

/** How to start `path`: bash is told not to read start-up files, which it does by itself when standard input is a socket. */
export function shellProgram(path: string): ShellProgram {
  return { path, args: /(^|\/)bash[^/]*$/.test(path) ? ['--norc', '--noprofile'] : [] }
}

/** Tells the orphan guard of a group, and replaces itself by the program that is its arguments, which has nothing of the guard's. */
export const REGISTER = `{ printf '+ %s\\n' "$$" >&3; } 2>/dev/null
exec "$@" 3>&-`

/** The same for a program that is spoken to on descriptors 3 and 4. */
export const REGISTER_ON_DESCRIPTORS = `{ printf '+ %s\\n' "$$" >&3; } 2>/dev/null
exec "$@" 3<&0 4>&1 </dev/null >/dev/null`

// File descriptor 3 is the orphan guard's: see there.
// The braces make the shell parse everything before it runs the command: a command with unbalanced quotes would otherwise spoil the
// lines after it. State is saved in both places because the command may call `exit`, or set an exit trap of its own.
const RUN = onOneLine(`{ printf '+ %s\\n' "$$" >&3; } 2>/dev/null;
exec 2>&1 3>&-;
__hermes_state=$1 __hermes_command=$2;
shift 2;
__hermes_save() {
  __hermes_status=$?;
  if [ -n "$__hermes_state" ]; then
    { command pwd; printf '\\0'; export -p; printf '\\0.'; } >| "$__hermes_state";
    __hermes_state=;
  fi;
  return $__hermes_status;
};
trap '{ __hermes_save; } 2>/dev/null' EXIT;
{ eval " $__hermes_command";
{ __hermes_save; } 2>/dev/null; }`)

const RUN_IN_BACKGROUND = onOneLine(`__hermes_exit=$1 __hermes_command=$2;
shift 2;
trap '{ printf %s "$?" >| "$__hermes_exit"; } 2>/dev/null' EXIT;
eval " $__hermes_command"`)

/** Tells that it runs, and runs the command that is its argument. */
export const RUN_HELD = `{ printf '+\\n' >&3; exec 3>&-; } 2>/dev/null; eval " $1"`

/** So that the shell counts the lines of the command from 1, in what it says of mistakes. */
function onOneLine(script: string): string {
  return script.replace(/\n\s*/g, ' ')
}

/** Arguments that run `command` and then write directory and exported variables to `statePath`, using builtins only. */
export function foregroundArgs(shell: ShellProgram, command: string, statePath: string): string[] {
  return [...shell.args, '-c', RUN, 'bash', statePath, command]
}

/** Arguments that run `command` and leave its exit status in `exitPath`, for whoever looks after a crash of the agent. */
export function backgroundArgs(shell: ShellProgram, command: string, exitPath: string): string[] {
  return [...shell.args, '-c', RUN_IN_BACKGROUND, 'bash', exitPath, command]
}
