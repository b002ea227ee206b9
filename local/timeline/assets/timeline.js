'use strict';
(() => {
  const byId = id => document.getElementById(id);
  const table = byId('lanes');
  const scroller = byId('scroller');
  const tip = byId('tip');
  const rows = [...byId('instances').rows];
  const items = [...table.querySelectorAll('[data-at]')].map(element => {
    const [from, to = from] = element.dataset.at.split(' ').map(Number);
    return { element, from, to };
  });
  const timesOf = new Map(items.map(item => [item.element, item]));
  const seconds = Math.max(Number(table.dataset.seconds), 1);
  const isCompact = table.classList.contains('compact');

  // Positions. They are shares of the whole, so zooming moves nothing: only the table gets wider.
  for (const { element, from, to } of items) {
    element.style.left = `${(100 * from) / seconds}%`;
    if (to > from) element.style.width = `${(100 * (to - from)) / seconds}%`;
    const { high, failed, of } = element.dataset;
    if (high) element.style.setProperty('--high', `${high}%`);
    if (failed) element.style.setProperty('--failed', `${(100 * failed) / of}%`);
  }
  for (const cell of document.querySelectorAll('[data-use]'))
    cell.style.setProperty('--use', `${Math.min(Number(cell.dataset.use), 125)}`);
  document.documentElement.classList.add('live');

  // The axis, and the words that fit into their spans.
  const ticks = byId('ticks');
  const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
  const LEAST_PIXELS = 72;
  const LABEL_PIXELS = 36;
  const LETTER_PIXELS = 6.3;

  function clock(time) {
    const whole = Math.floor(time);
    const two = number => String(number).padStart(2, '0');
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor((whole % 3600) / 60);
    return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
  }

  function draw() {
    const width = ticks.clientWidth;
    const step = STEPS.find(each => (width * each) / seconds >= LEAST_PIXELS) ?? seconds;
    table.style.setProperty('--step', `${(100 * step) / seconds}%`);
    const marks = [];
    for (let at = 0; at <= seconds; at += step) {
      const mark = document.createElement('li');
      mark.textContent = clock(at);
      mark.style.left = `${(100 * at) / seconds}%`;
      if (((seconds - at) * width) / seconds > LABEL_PIXELS) marks.push(mark);
    }
    ticks.replaceChildren(...marks);
    for (const { element, from, to } of items) {
      const { failed, high } = element.dataset;
      if (to === from || (high && !failed) || (isCompact && !element.closest('.bands'))) continue;
      const room = (width * (to - from)) / seconds / LETTER_PIXELS - 2;
      const words = failed ? `${failed} failed` : element.textContent;
      const short = failed ?? words.split(/[,:(]/)[0].trim();
      element.dataset.label = words.length < room ? words : short.length < room ? short : '';
    }
  }

  // Zoom, about the point that stays where it is.
  const MOST_ZOOM = 64;
  let zoom = 1;

  function zoomTo(wanted, atPixel = scroller.clientWidth / 2) {
    const head = table.tHead.rows[0].cells[0].offsetWidth;
    const before = ticks.clientWidth;
    const share = (scroller.scrollLeft + atPixel - head) / before;
    zoom = Math.min(Math.max(wanted, 1), MOST_ZOOM);
    table.style.setProperty('--zoom', String(zoom));
    scroller.scrollLeft = share * ticks.clientWidth + head - atPixel;
    byId('zoom').textContent = `${Math.round(100 * zoom)} %`;
    byId('zoom-out').disabled = zoom === 1;
    byId('zoom-in').disabled = zoom === MOST_ZOOM;
    hideTip();
    draw();
  }

  byId('zoom-in').addEventListener('click', () => zoomTo(zoom * 2));
  byId('zoom-out').addEventListener('click', () => zoomTo(zoom / 2));
  byId('zoom-fit').addEventListener('click', () => zoomTo(1));
  scroller.addEventListener(
    'wheel',
    event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomTo(zoom * 2 ** (-event.deltaY / 200), event.clientX - scroller.getBoundingClientRect().left);
    },
    { passive: false },
  );

  // The filter.
  const wanted = { id: byId('filter-id'), zone: byId('filter-zone'), state: byId('filter-state') };

  function filter() {
    const id = wanted.id.value.trim().toLowerCase();
    const { value: zone } = wanted.zone;
    const { value: state } = wanted.state;
    let shown = 0;
    for (const row of rows) {
      row.hidden = !(
        row.cells[0].textContent.toLowerCase().includes(id) &&
        (zone === '' || row.dataset.zone === zone) &&
        (state === '' || row.querySelector(`.${state}`))
      );
      if (!row.hidden) shown++;
    }
    byId('shown').textContent = `${shown} of ${rows.length} instances`;
    hideTip();
    keepOneTabStop();
  }

  for (const control of Object.values(wanted)) control.addEventListener('input', filter);
  byId('controls').addEventListener('submit', event => event.preventDefault());

  // Details of the span under the pointer or in focus.
  function details(element) {
    const { from, to } = timesOf.get(element);
    const row = element.closest('tr');
    const name = `${row.querySelector('b').textContent} ${row.dataset.zone ?? ''}`.trim();
    const lasting = to > from ? [`${element.closest('ol').getAttribute('aria-label')}, for ${clock(to - from)}`] : [];
    return [name, element.textContent, ...lasting];
  }

  function showTip(element, x, y) {
    tip.replaceChildren(
      ...details(element).map(text => {
        const line = document.createElement('div');
        line.textContent = text;
        return line;
      }),
    );
    tip.hidden = false;
    tip.style.left = `${Math.max(8, Math.min(x + 12, innerWidth - tip.offsetWidth - 8))}px`;
    const below = y + 18;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : below}px`;
  }

  function hideTip() {
    tip.hidden = true;
  }

  function showFocused() {
    const { activeElement } = document;
    if (!timesOf.has(activeElement)) return hideTip();
    const { left, bottom } = activeElement.getBoundingClientRect();
    showTip(activeElement, Math.max(left, scroller.getBoundingClientRect().left), bottom - 12);
  }

  table.addEventListener('pointermove', ({ target, clientX, clientY }) => {
    const element = target.closest('[data-at]');
    if (element) showTip(element, clientX, clientY);
    else hideTip();
  });
  table.addEventListener('pointerleave', hideTip);
  table.addEventListener('focusin', showFocused);
  table.addEventListener('focusout', hideTip);
  scroller.addEventListener('scroll', showFocused);

  // The keyboard: one tab stop among all spans, arrows between them.
  let stop;

  function setStop(element) {
    stop?.removeAttribute('tabindex');
    stop?.removeAttribute('aria-label');
    stop = element;
    if (!stop) return;
    stop.setAttribute('tabindex', '0');
    // A list item in focus is not named by its content.
    stop.setAttribute('aria-label', details(stop).join(', '));
  }

  const lists = () => [...table.querySelectorAll('tr:not([hidden]) ol')].filter(list => list.querySelector('[data-at]'));

  function keepOneTabStop() {
    if (!stop || stop.closest('tr').hidden) setStop(lists()[0]?.querySelector('[data-at]'));
  }

  function beside(element, step) {
    return step < 0 ? element.previousElementSibling : element.nextElementSibling;
  }

  /** The span of the next list that covers the same moment, or begins the nearest to it. */
  function across(element, step) {
    const all = lists();
    const list = all[all.indexOf(element.closest('ol')) + step];
    const { from } = timesOf.get(element);
    const distance = child => {
      const times = timesOf.get(child);
      return times.from <= from && from < times.to ? 0 : Math.abs(times.from - from);
    };
    return list && [...list.children].reduce((best, child) => (distance(child) < distance(best) ? child : best));
  }

  const MOVES = {
    ArrowLeft: element => beside(element, -1),
    ArrowRight: element => beside(element, 1),
    ArrowUp: element => across(element, -1),
    ArrowDown: element => across(element, 1),
    Home: element => element.parentElement.firstElementChild,
    End: element => element.parentElement.lastElementChild,
  };
  const ZOOMS = { '+': () => zoomTo(zoom * 2), '=': () => zoomTo(zoom * 2), '-': () => zoomTo(zoom / 2), 0: () => zoomTo(1) };

  scroller.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = timesOf.has(event.target) && MOVES[event.key];
    if (move) {
      const to = move(event.target);
      if (to) {
        setStop(to);
        to.focus({ preventScroll: true });
        to.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
    } else if (ZOOMS[event.key]) ZOOMS[event.key]();
    else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') hideTip();
  });

  new ResizeObserver(draw).observe(scroller);
  zoomTo(1);
  keepOneTabStop();
})();
