"""The POSIX shell script that does the work of `ShellFiles`, where the files are.

It is run as `sh -c SCRIPT mnemoscope ACTION PATH …`; whatever a path holds is only ever an argument. It needs no more
than a shell with `stat`, `xargs` and `readlink`, as busybox has them. Exit codes from 44 on say what is wrong.
"""

from __future__ import annotations

NOT_FOUND, IS_FOLDER, NOT_FOLDER, IS_LINK, NOT_REGULAR, NOT_ALLOWED, INCOMPLETE = range(44, 51)

SCRIPT = r"""
LC_ALL=C
export LC_ALL
# Mode in hexadecimal, size, seconds of the last change, inode, and the last change of the inode in words.
format='%f %s %Y %i %z'

# Sets `resolved` to the path with every link in it resolved, whether or not there is such a file.
resolve() {
  rest=$1 front= hops=0
  while [ -n "$rest" ]; do
    name=${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    case $name in
      '' | .) continue ;;
      ..) front=${front%/*}; continue ;;
    esac
    if [ -L "$front/$name" ]; then
      hops=$((hops + 1))
      [ "$hops" -le 40 ] || exit 47
      # What `$(…)` would cut off of a target is kept by the x.
      target=$(readlink "$front/$name" && echo x) || exit 44
      target=${target%?x}
      case $target in /*) front= ;; esac
      rest=$target${rest:+/$rest}
    else
      front=$front/$name
    fi
  done
  resolved=${front:-/}
}

refuse_links() {
  resolve "$1"
  [ "$resolved" = "$1" ] || exit 47
}

require_regular() {
  [ ! -d "$1" ] || exit 45
  [ -e "$1" ] || exit 44
  [ -f "$1" ] || exit 48
}

action=$1 path=$2
case $path in '~') path=$HOME ;; '~/'*) path=$HOME/${path#??} ;; esac
above=${path%/*}
above=${above:-/}
shift 2
case $action in
  resolve)
    resolve "$path"
    printf '%s' "$resolved"
    ;;
  read)
    [ "$2" = follow ] || refuse_links "$path"
    require_regular "$path"
    [ -r "$path" ] || exit 49
    if [ -n "$1" ]; then head -c "$1" "$path"; else cat "$path"; fi
    ;;
  stat)
    [ -e "$path" ] || [ -L "$path" ] || exit 44
    stat -c "$format" "$path"
    ;;
  targets)
    cd "$path" || exit 44
    for name; do
      if line=$(stat -L -c "$format" "./$name" 2>/dev/null); then printf '%s\0%s\0' "$name" "$line"; fi
    done
    ;;
  list)
    [ -e "$path" ] || exit 44
    [ -d "$path" ] || exit 46
    cd "$path" && [ -r . ] || exit 49
    for name in * .[!.]* ..?*; do
      if [ -e "$name" ] || [ -L "$name" ]; then printf './%s\0' "$name"; fi
    done | xargs -0 sh -c '
      [ "$#" -gt 0 ] || exit 0
      printf "%s\0" "$@"
      printf "\0"
      stat -c "$0" "$@" 2>/dev/null
      printf "\0"
    ' "$format"
    ;;
  prepare)
    if [ "$1" = follow ]; then resolve "$path"; path=$resolved above=${path%/*}; else refuse_links "$path"; fi
    above=${above:-/}
    old=
    if [ -e "$path" ]; then
      require_regular "$path"
      old=$(stat -c '%a %u %g' "$path") || exit 44
    fi
    mkdir -p "$above" || exit 1
    [ -d "$above" ] || exit 46
    [ -w "$above" ] || exit 49
    printf '%s\0%s\0%s' "$path" "$old" "$(id -u) $(id -g)"
    ;;
  commit)
    # A file that was sent to a place where it cannot be seen, or not all of it, takes nobody's place.
    if [ "$(stat -c %s "$1" 2>/dev/null)" != "$2" ] || [ -d "$path" ]; then
      rm -f "$1"
      exit 50
    fi
    { [ -z "$3" ] || chmod "$3" "$1"; } && { sync "$1" 2>/dev/null || true; } && mv -f "$1" "$path"
    ;;
  delete)
    [ "$1" = follow ] || refuse_links "$above"
    [ -e "$path" ] || [ -L "$path" ] || exit 44
    [ -L "$path" ] || [ ! -d "$path" ] || exit 45
    rm -f "$path"
    ;;
  rmdir)
    refuse_links "$path"
    rmdir "$path"
    ;;
  remove)
    rm -f "$path"
    ;;
esac
"""
