// Scripts that ask this program what fits: names come from the local index, without the network, and never values.
// What bash and PowerShell insert is read by them as it stands, so names are quoted for them; zsh and fish quote what they insert.

const BASH = String.raw`_strongroom() {
  local name quote=$'["\']' mark=$'[\\\\"\']' words=("${'$'}{COMP_WORDS[@]:1}")
  COMPREPLY=()
  while IFS= read -r name; do
    [[ ${'$'}{COMP_WORDS[COMP_CWORD]} == $quote* ]] || printf -v name %q "$name"
    COMPREPLY+=("$name")
  done < <(COMP_CWORD=$COMP_CWORD strongroom __complete -- "${'$'}{words[@]//$mark/}" 2>/dev/null)
}
complete -o default -o nosort -F _strongroom strongroom
`
const ZSH = `#compdef strongroom
_strongroom() {
  local -a found
  found=(\${(f)"$(COMP_CWORD=$((CURRENT - 1)) strongroom __complete -- "\${words[@]:1}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -- "\${found[@]}"; else _files; fi
}
compdef _strongroom strongroom
`
const FISH = `function __strongroom_complete
  set -l words (commandline -opc) (commandline -ct)
  env COMP_CWORD=(math (count $words) - 1) strongroom __complete -- $words[2..-1] 2>/dev/null
end
complete -c strongroom -f -a '(__strongroom_complete)'
`
const PWSH = `Register-ArgumentCompleter -Native -CommandName strongroom -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  $env:COMP_CWORD = $words.Count
  strongroom __complete -- @words 2>$null | ForEach-Object {
    $text = if ($_ -match '[^\\w+=:./-]') { "'" + $_.Replace("'", "''") + "'" } else { $_ }
    [System.Management.Automation.CompletionResult]::new($text)
  }
}
`

export const SHELLS = ['bash', 'zsh', 'fish', 'pwsh'] as const
export type Shell = (typeof SHELLS)[number]
const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, pwsh: PWSH }

/** What to load in a shell. */
export const completionScript = (shell: Shell): string => SCRIPTS[shell]
