import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { compact } from '../lib/format.ts'

export interface Line {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** A CSS variable. */
  readonly colour: string
}

/** A canvas knows no CSS variables: the colours are read from a probe. */
function coloursOf(element: HTMLElement, names: readonly string[]): string[] {
  const probe = document.createElement('span')
  element.append(probe)
  const colours = names.map((name) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  })
  probe.remove()
  return colours
}

/** Counts have no halves. */
const WHOLE_STEPS = Array.from({ length: 11 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()

/** Room for half a bar on both sides. */
function padded(min: number, max: number, buckets: number): [number, number] {
  const half = buckets > 1 ? (max - min) / (buckets - 1) / 2 : 43_200
  return [min - half, max + half]
}

export function plotted(
  element: HTMLElement,
  data: uPlot.AlignedData,
  lines: readonly Line[],
  onRange: (from: number, to: number) => void,
  onHover: (index: number | null) => void,
): uPlot {
  const [ink = '', grid = '', ...colours] = coloursOf(element, ['soft', 'line', ...lines.map(({ colour }) => colour)])
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], gap: 1 })
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: '12px system-ui' }
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: 220,
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { time: true, range: (_plot, min, max) => padded(min, max, data[0].length) },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.05)] },
    },
    axes: [
      { ...axis, grid: { show: false } },
      { ...axis, size: 52, incrs: WHOLE_STEPS, values: (_plot, ticks) => ticks.map((tick) => compact(tick)) },
    ],
    series: [
      {},
      ...lines.map((line, index) => ({
        label: line.name,
        stroke: colours[index] ?? ink,
        ...(index === 0
          ? { fill: colours[index] ?? ink, width: 0, ...(bars === undefined ? {} : { paths: bars }) }
          : { width: 2 }),
        points: { show: data[0].length < 3 && index > 0 },
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onHover(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          if (plot.select.width < 8) return
          onRange(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'))
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        },
      ],
    },
  }
  return new uPlot(options, data, element)
}
