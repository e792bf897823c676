import { edit, failed, grep, lines, read, rejected, run, say, think, user, web } from '../script.ts'
import type { Thread } from '../script.ts'

interface Goroutines {
  readonly handler: string
  readonly path: string
  readonly channel: string
  readonly count: string
}

function leakingGoroutine({ handler, path, channel, count }: Goroutines): Thread {
  return {
    project: 'fleet-gateway',
    title: `Goroutine leak in ${handler}`,
    mode: 'agent',
    steps: [
      user(
        `pprof on build-01 shows ${count} goroutines in chan send, all below ${handler}. Memory grows by 40 MB an hour.`,
      ),
      run(
        'curl -s localhost:6060/debug/pprof/goroutine?debug=1 | head -20',
        `goroutine profile: total ${count}\n${count} @ 0x43a2f6 0x40610f 0x405d9b\n#\t0x7f21a5\tgateway/internal/stream.(*Hub).${handler}+0x1e5\t${path}:88`,
      ),
      read(
        path,
        `func (h *Hub) ${handler}(ctx context.Context, v Vehicle) error {\n\t${channel} := make(chan Frame)\n\tgo h.pump(v, ${channel})\n\tselect {\n\tcase f := <-${channel}:\n\t\treturn h.send(f)\n\tcase <-ctx.Done():\n\t\treturn ctx.Err()\n\t}\n}\n`,
      ),
      think(
        `When ctx ends first, nobody reads ${channel} any more and pump blocks in its send for ever. A buffer of one lets it finish; passing ctx on is cleaner.`,
        7,
      ),
      edit(
        path,
        ` func (h *Hub) ${handler}(ctx context.Context, v Vehicle) error {`,
        `-\t${channel} := make(chan Frame)`,
        `-\tgo h.pump(v, ${channel})`,
        `+\t${channel} := make(chan Frame, 1)`,
        `+\tgo h.pump(ctx, v, ${channel})`,
      ),
      failed(
        run(
          'go test -race ./internal/stream/...',
          'WARNING: DATA RACE\nWrite at 0x00c0001a4018 by goroutine 31:\n  gateway/internal/stream.(*Hub).pump()\nFAIL',
        ),
        'Command failed with exit code 1',
      ),
      say(
        'The race detector is right: `pump` writes `h.last` without the lock. That was there before, but now it shows.',
      ),
      edit('internal/stream/hub.go', '-\th.last = f', '+\th.mu.Lock()', '+\th.last = f', '+\th.mu.Unlock()'),
      run('go test -race ./internal/stream/...', 'ok  \tgateway/internal/stream\t2.114s'),
      say(`Both are gone: \`${handler}\` ends its pump with its context, and \`h.last\` is guarded by \`h.mu\`.`),
    ],
  }
}

interface Deadline {
  readonly peer: string
  readonly limit: string
  readonly metric: string
}

const deadline = ({ peer, limit, metric }: Deadline): Thread => ({
  project: 'fleet-gateway',
  title: `context deadline exceeded towards ${peer}`,
  mode: 'agent',
  steps: [
    user(
      `Every evening: rpc error: code = DeadlineExceeded desc = context deadline exceeded, always from ${peer}. The limit is ${limit}.`,
    ),
    grep('WithTimeout', `internal/rpc/client.go:52:\tctx, cancel := context.WithTimeout(ctx, ${limit})`),
    web(
      `grpc keepalive ENHANCE_YOUR_CALM ${peer}`,
      'A proxy that drops idle connections silently makes the first call after the pause run into its deadline. Client keepalive must not be more frequent than the server permits.',
    ),
    say(
      `The first call after a quiet spell runs over a connection that the proxy has dropped. \`${metric}\` confirms it: one slow call, then fast ones. Keepalive every 30 s helps:\n\n\`\`\`go\ngrpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, PermitWithoutStream: true})\n\`\`\``,
    ),
    rejected(run('ssh build-01 sudo systemctl restart fleet-gateway', '')),
    user('I restart it myself after work. Is 30 s not too often?'),
    say(
      'The server permits one ping in 20 s (`MinTime`), so 30 s is inside. Below 20 s it would answer `ENHANCE_YOUR_CALM` and close.',
    ),
  ],
})

/** A window with a folder on another machine; only the window's side keeps the chat. */
const buildOverSsh: Thread = {
  project: 'fleet-gateway',
  title: 'Cross-compile for the arm64 boxes',
  mode: 'agent',
  steps: [
    user(
      'make release fails on build-01 since the upgrade to Go 1.24, for arm64 only.',
      lines('Makefile', 'release:\n\tGOARCH=$(ARCH) go build -trimpath -o dist/gateway-$(ARCH) ./cmd/gateway'),
    ),
    failed(
      run('make release ARCH=arm64', '# runtime/cgo\ngcc: error: unrecognized command-line option ‘-m64’'),
      'Command failed with exit code 2',
    ),
    say(
      'cgo is on, so the compiler of the host is asked for arm64. Nothing here needs cgo but `mattn/go-sqlite3`; with `modernc.org/sqlite` it can be off.',
    ),
    edit('Makefile', '-\tGOARCH=$(ARCH) go build', '+\tCGO_ENABLED=0 GOARCH=$(ARCH) go build'),
    run(
      'make release ARCH=arm64 && file dist/gateway-arm64',
      'dist/gateway-arm64: ELF 64-bit LSB executable, ARM aarch64, statically linked',
    ),
    say('It builds, statically linked: 18.2 MB instead of 14.9.'),
  ],
}

export const fleetChats: readonly Thread[] = [
  leakingGoroutine({
    handler: 'streamPosition',
    path: 'internal/stream/position.go',
    channel: 'frames',
    count: '48211',
  }),
  leakingGoroutine({ handler: 'relayAlarm', path: 'internal/stream/alarm.go', channel: 'alarms', count: '9032' }),
  deadline({ peer: 'geo-resolver', limit: '2*time.Second', metric: 'rpc_client_latency_seconds' }),
  deadline({ peer: 'tariff-service', limit: '5*time.Second', metric: 'tariff_lookup_seconds' }),
  buildOverSsh,
]
