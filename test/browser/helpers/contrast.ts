/**
 * Runs in the page, as text: for every piece of text that is shown, the least contrast (WCAG 2.2, 1.4.3) between its
 * colour and the background behind it, stripes included. Answers those below `least`. Disabled controls are exempt.
 */
export const lowContrast = (least: number): string => `(() => {
  const parse = text => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  });
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map(value => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratio = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const backgrounds = element => {
    const style = getComputedStyle(element);
    const color = parse(style.backgroundColor);
    const base = color.a === 1 ? [color] : (element.parentElement ? backgrounds(element.parentElement) : [{ r: 255, g: 255, b: 255, a: 1 }]).map(below => over(color, below));
    const stripes = element.matches('li') ? style.backgroundImage.match(/rgba?\\([^)]*\\)/g) ?? [] : [];
    return [...base, ...stripes.flatMap(stripe => base.map(below => over(parse(stripe), below)))];
  };
  const shown = [...document.querySelectorAll('body *')].filter(element => {
    const style = getComputedStyle(element);
    const words = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim() !== '');
    const labelled = (element.dataset?.label ?? '') !== '';
    const box = element.getBoundingClientRect();
    return (labelled || (words && parseFloat(style.fontSize) > 0)) && box.width > 1 && !element.disabled
      && !element.matches('option, optgroup, script, .unseen') && style.visibility === 'visible';
  });
  const found = shown.map(element => {
    const color = parse(getComputedStyle(element).color);
    const chip = parse(getComputedStyle(element, '::after').backgroundColor);
    const behind = chip.a === 1 ? [chip] : backgrounds(element);
    return { what: element.tagName + '.' + element.className, ratio: Math.min(...behind.map(each => ratio(color, each))) };
  });
  return { checked: found.length, low: found.filter(({ ratio }) => ratio < ${least}) };
})()`;
