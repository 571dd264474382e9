# fish completion for proton(1)
# SPDX-License-Identifier: MIT
#
# Commands, options and values come from the program itself (proton help --describe …), so that this
# file need not know them. What follows the program's name is completed as that program would.

# The command on the line so far is one of these; without arguments: there is one.
function __proton_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return 1
    test (count $argv) -eq 0; or contains -- $words[2] $argv
end

# The same of a subcommand: kernel dump.
function __proton_is_below
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test "$words[2] $words[3]" = "$argv"
end

# How many words stand before the program that is to be run; nothing when it has not been named.
function __proton_app_at
    set -l words (commandline -opc)
    set -l i 3
    while test $i -le (count $words)
        switch "word $words[$i]" # not "--" itself, which would end the options of switch
            case 'word --'
                echo $i
                return
            case 'word --*=*'
            case 'word -*'
                contains -- $words[$i] $__proton_takes_value; and set i (math $i + 1)
            case '*'
                echo (math $i - 1)
                return
        end
        set i (math $i + 1)
    end
    return 1
end

function __proton_has_app
    __proton_is top record run; and __proton_app_at >/dev/null
end

function __proton_complete_app
    set -l words (commandline -opc) (commandline -ct)
    __fish_complete_subcommand --commandline $words[(math (__proton_app_at) + 1)..-1]
end

command -q proton; or exit # it is what knows
complete -c proton -f
complete -c proton -n 'not __proton_is' -a '(proton help --describe-commands 2>/dev/null)'
complete -c proton -n '__proton_is help' -a '(proton help --describe-commands 2>/dev/null)'
complete -c proton -n '__proton_is top record run; and not __proton_app_at' -a '(__fish_complete_command)'
complete -c proton -n __proton_has_app -x -a '(__proton_complete_app)'
complete -c proton -n '__proton_is doctor' -a 'cuda opencl nvtx screen saving'
complete -c proton -n '__proton_is kernel; and test (count (commandline -opc)) -eq 2' -a '(proton help --describe-commands=kernel 2>/dev/null)'
complete -c proton -n '__proton_is; and not __proton_is top record run doctor help metrics version kernel' -F
complete -c proton -n '__proton_is kernel; and test (count (commandline -opc)) -gt 2' -F

set -g __proton_takes_value
for command in (proton help --list-commands 2>/dev/null)
    proton help --describe $command | while read -l -d \t name letter arg help
        set -l spec -c proton -n "__proton_is $command; and not __proton_has_app" -d "$help"
        test $name = -; or set -a spec -l $name
        test $letter = -; or set -a spec -s $letter
        if test "$arg" != -
            set -a __proton_takes_value --$name -$letter
            switch $arg
                case '*FILE*'
                    set -a spec -r -F
                case '*'
                    set -a spec -x -a "(proton help --list-values $command:$name)"
            end
        end
        complete $spec
    end
end
for command in (proton help --list-commands=kernel 2>/dev/null)
    proton help --describe "kernel $command" | while read -l -d \t name letter arg help
        set -l spec -c proton -n "__proton_is_below kernel $command" -d "$help"
        test $name = -; or set -a spec -l $name
        test $letter = -; or set -a spec -s $letter
        switch $arg
            case -
            case '*FILE*' '*FOLDER*'
                set -a spec -r -F
            case '*'
                set -a spec -x -a "(proton help --list-values 'kernel $command:$name')"
        end
        complete $spec
    end
end
