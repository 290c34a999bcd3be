# Words to try case activation with, in a shell: `. examples/case-activation/try.sh`. Each is one call of the API.
B=${B:-http://localhost:8081}

# as PERSON ROLE URL [curl's options]
as() {
  curl -sS -H "x-user: $1" -H "x-roles: $2" -H "idempotency-key: $$-$RANDOM$RANDOM$RANDOM" \
    -H 'content-type: application/json' "${@:3}"
}
# field EXPRESSION: of the JSON that comes in
field() { node -pe "JSON.parse(require('fs').readFileSync(0, 'utf8'))$1"; }
# new PARTY [JURISDICTION] [SEVERITY]: opens a case as ana, and prints its id
new() {
  as ana clerk "$B/cases" -d '{"tenantId":"t1","partyName":"'"$1"'","jurisdiction":"'"${2:-ID-JK}"'","severity":"'"${3:-normal}"'"}' |
    field .caseId
}
# show CASE [FIELD]
show() { curl -sS "$B/cases/$1" | field "${2:-.status}"; }
# becomes CASE STATUS: waits for it, a minute at most
becomes() {
  for _ in $(seq 200); do
    [ "$(show "$1")" = "$2" ] && echo "$1 is $2" && return
    sleep 0.3
  done
  echo "$1 is $(show "$1"), expected $2" && return 1
}
# decide CASE PERSON approve|reject
decide() {
  id=$(as another supervisor "$B/approvals" | field ".find(({ subject }) => subject === '$1').id")
  as "$2" supervisor "$B/approvals/$id/decision" -d '{"decision":"'"$3"'","reason":"read the file"}' && echo
}
# cancel CASE REASON, as ana
cancel() { as ana clerk "$B/cases/$1/cancel" -d '{"reason":"'"$2"'"}'; }
# steps CASE: what became of it, by whom
steps() { show "$1" ".history.map(({ to, actor, reason }) => [to, 'by', actor, reason ?? ''].join(' ')).join('\n')"; }
