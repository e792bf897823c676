import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { count } from '../lib/format.ts'
import type { Line } from './plot.ts'

interface ChartProps {
  readonly title: string
  /** First dates of the buckets, `YYYY-MM-DD`. */
  readonly dates: readonly string[]
  readonly lines: readonly Line[]
  /** The bucket that was pressed. */
  readonly onPick: (index: number) => void
  /** The days that were dragged over, as seconds. */
  readonly onRange: (fromSeconds: number, toSeconds: number) => void
}

const HEIGHT = 220

const secondsOf = (date: string): number => new Date(`${date}T00:00:00`).getTime() / 1000

/** Bars over time. Its table says the same to those who do not see it. */
export function Chart({ title, dates, lines, onPick, onRange }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  // The bucket below the pointer.
  const [hovered, setHovered] = useState<number | null>(null)
  const pressedAt = useRef(0)
  const latest = useRef(onRange)
  latest.current = onRange
  useEffect(() => {
    const element = box.current
    if (element === null || dates.length === 0) return undefined
    let plot: uPlot | null = null
    let isGone = false
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const draw = async (): Promise<void> => {
      const { plotted } = await import('./plot.ts')
      if (isGone) return
      plot?.destroy()
      const data = [dates.map(secondsOf), ...lines.map(({ values }) => [...values])] as uPlot.AlignedData
      plot = plotted(element, data, lines, (from, to) => latest.current(from, to), setHovered)
    }
    const resize = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }))
    const redraw = (): void => void draw()
    void draw()
    resize.observe(element)
    dark.addEventListener('change', redraw)
    return () => {
      isGone = true
      resize.disconnect()
      dark.removeEventListener('change', redraw)
      plot?.destroy()
    }
  }, [dates.join(), JSON.stringify(lines)])
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {hovered !== null && <b>{dates[hovered]}</b>}
          {lines.map(({ name, colour, values }) => (
            <span key={name} class="legend-line" data-colour={colour}>
              {name} <b>{count(hovered === null ? sum(values) : values[hovered])}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div
        ref={box}
        class="plot"
        aria-hidden="true"
        onPointerDown={({ clientX }) => (pressedAt.current = clientX)}
        onClick={({ clientX }) => {
          // A drag chooses a time.
          if (hovered !== null && Math.abs(clientX - pressedAt.current) < 5) onPick(hovered)
        }}
      />
    </figure>
  )
}

const sum = (values: Line['values']): number => values.reduce<number>((total, value) => total + (value ?? 0), 0)
