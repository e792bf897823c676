import type { Shell } from './words.ts'

// Each script passes the typed words, with quotes, to `cursordex __complete` and gets lines of a value, a tab and a
// description. A line without a value means names of files.

const bash = `_cursordex() {
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    if [[ $line == $'\\tfiles' ]]; then compopt -o default 2>/dev/null
    else COMPREPLY+=("\${line%%$'\\t'*}"); fi
  done < <(cursordex __complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cursordex cursordex
`

const zsh = `#compdef cursordex
_cursordex() {
  local line value
  local -a values shown
  while IFS= read -r line; do
    if [[ $line == $'\\tfiles' ]]; then _files; return; fi
    value=\${line%%$'\\t'*}
    values+=("$value")
    shown+=("\${value}\${\${line#*$'\\t'}:+  -- \${line#*$'\\t'}}")
  done < <(cursordex __complete zsh -- "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  compadd -l -d shown -a values
}
if [[ \${funcstack[1]} == _cursordex ]]; then _cursordex "$@"; else compdef _cursordex cursordex; fi
`

const fish = `function __cursordex_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    for line in (cursordex __complete fish -- $words "$current" 2>/dev/null)
        if test "$line" = \\tfiles
            __fish_complete_path "$current"
        else
            printf '%s\\n' $line
        end
    end
end
complete -c cursordex -f -a '(__cursordex_complete)'
`

// PowerShell before 7.3 does not pass empty words to programs, so an empty word is passed as two quotes.
const powershell = `Register-ArgumentCompleter -Native -CommandName cursordex -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $current = if ($wordToComplete) { $wordToComplete } else { "''" }
  cursordex __complete powershell '--' @words $current 2>$null | ForEach-Object {
    $value, $text = $_ -split "\`t", 2
    if ($value) {
      $tip = if ($text) { $text } else { $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $tip)
    }
  }
}
`

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell }
