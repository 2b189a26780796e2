"use strict";

// The page draws what the library answers. Names and keys become text nodes and nothing else: the policy of the page
// forbids it to make markup of text.

const $ = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const COLOURS = 12;

// What the page is about. before is the list of nodes before the last change, history what undo goes back to.
const state = {nodes: [], before: [], history: [], colour: new Map()};
let asked = 0; // questions sent: an answer that a later one has overtaken is not shown

function element(name, attributes, ...children) {
	const e = name in svgNames ? document.createElementNS(SVG, name) : document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
	e.append(...children);
	return e;
}
const svgNames = {path: 1, circle: 1, line: 1, text: 1, g: 1};

// colour returns the class of a node's colour, which it keeps. One that no node on the page has is preferred.
function colour(name) {
	if (!state.colour.has(name)) {
		const used = new Set([...state.nodes, ...state.before].map(n => state.colour.get(n.name)));
		let c = 0;
		while (c < COLOURS && used.has(c)) c++;
		state.colour.set(name, c < COLOURS ? c : state.colour.size % COLOURS);
	}
	return "c" + state.colour.get(name);
}

const percent = x => (100 * x).toFixed(1) + "\u00a0%";
const nobody = name => name === "" ? "nobody" : name;

// ask sends all there is, and shows the answer. If the server refuses it, revert makes the page what it was.
async function ask(revert) {
	const number = ++asked;
	const question = {
		nodes: state.nodes, before: state.before,
		virtualNodes: Number($("vnodes").value), hash: $("hash").value,
		key: $("key").value, replicas: Number($("replicas").value), spread: $("spread").checked,
	};
	let answer;
	try {
		const r = await fetch("answer", {
			method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(question),
		});
		answer = await r.json();
	} catch (e) {
		answer = {problems: ["The server does not answer: " + e.message]};
	}
	if (number !== asked) return;
	$("problems").textContent = (answer.problems || []).join("\n");
	if (answer.problems) {
		if (revert) {
			revert();
			showNodes(shown.nodes);
		}
		return;
	}
	shown = answer;
	for (const n of answer.nodes) colour(n.name);
	showRing(answer);
	showNodes(answer.nodes);
	showWalk(answer);
	showMoved(answer);
	$("undo").disabled = state.history.length === 0;
}
let shown = {nodes: []}; // the last answer

// change makes nodes the nodes of the page.
function change(nodes) {
	const was = {nodes: state.nodes, before: state.before};
	state.history.push(was);
	state.before = state.nodes;
	state.nodes = nodes;
	const known = new Set([...nodes, ...state.before].map(n => n.name));
	for (const name of state.colour.keys()) if (!known.has(name)) state.colour.delete(name);
	return ask(() => {
		state.history.pop();
		Object.assign(state, was);
	});
}

// point returns where a part of the way round is, at a distance from the middle.
function point(part, r) {
	const a = 2 * Math.PI * part;
	return (200 + r * Math.sin(a)).toFixed(2) + " " + (200 - r * Math.cos(a)).toFixed(2);
}

// sector returns the path of an arc between two distances. Most of a circle is drawn as two halves, since an arc whose
// ends are one point is none.
function sector(start, length, inner, outer) {
	if (length > 0.999) return sector(start, length / 2, inner, outer) + sector(start + length / 2, length / 2, inner, outer);
	const end = start + length, large = length > 0.5 ? 1 : 0;
	return `M${point(start, outer)}A${outer} ${outer} 0 ${large} 1 ${point(end, outer)}` +
		`L${point(end, inner)}A${inner} ${inner} 0 ${large} 0 ${point(start, inner)}Z`;
}

function showRing(answer) {
	const arcs = element("g", {class: "arcs"}), ticks = element("g", {}), gap = answer.tokens.length > 200 ? 0 : 1;
	answer.nodes.forEach((n, i) => {
		let d = "", t = "";
		for (const a of answer.arcs) if (a.node === i) d += sector(a.start, a.length, 112, 152);
		for (const p of answer.tokens) if (p.node === i) t += `M${point(p.at, 154)}L${point(p.at, 161)}`;
		arcs.append(element("path", {class: `${colour(n.name)} on gap`, d, "stroke-width": gap, "data-node": i}));
		ticks.append(element("path", {class: `${colour(n.name)} edge`, d: t, "stroke-width": 1.6}));
	});
	// An outer band in the colour of who had the arc before.
	const bands = element("g", {class: "moved"});
	const had = new Map();
	for (const m of answer.moved) if (m.from !== "") had.set(m.from, (had.get(m.from) || "") + sector(m.start, m.length, 165, 175));
	for (const [name, d] of had) bands.append(element("path", {class: `${colour(name)} on`, d}));
	const marks = element("g", {});
	marks.append(element("path", {class: "mark", d: "M200 38V30"}),
		element("text", {x: 200, y: 18, "text-anchor": "middle"}, "0"));
	if (answer.walk) marks.append(...walkMarks(answer.walk));
	$("ring").replaceChildren($("ring-title"), arcs, ticks, bands, marks);
	const owned = answer.nodes.map(n => `${n.name} owns ${percent(n.share)}`).join(", ");
	$("ring-title").textContent = "The ring: " + (owned || "no nodes");
	$("facts").textContent = answer.nodes.length === 0 ? "No nodes: nothing owns a key." : [
		`${answer.tokens.length} tokens`, `peak/mean ${answer.peak.toFixed(3)}`,
		`deviation ${percent(answer.deviation)}, in theory ${percent(answer.theory)}`, `fingerprint ${answer.fingerprint}`,
	].join(" · ");
}

// walkMarks draws the way from the key to the last step inside the circle, with a spoke to each token that counts.
function walkMarks(walk) {
	const last = walk.steps[walk.steps.length - 1].at;
	const length = Math.min((last - walk.at + 1) % 1, 0.999);
	let d = `M${point(walk.at, 100)}A100 100 0 ${length > 0.5 ? 1 : 0} 1 ${point(walk.at + length, 100)}`;
	const [cx, cy] = point(walk.at, 100).split(" ").map(Number);
	const labels = [], taken = [[cx, cy]]; // what another label must keep away from
	for (const s of walk.steps) if (s.rank >= 0) {
		d += `M${point(s.at, 100)}L${point(s.at, 110)}`;
		let r = 88, x, y;
		do {
			[x, y] = point(s.at, r).split(" ").map(Number);
			r -= 4;
		} while (r > 0 && taken.some(([tx, ty]) => Math.hypot(x - tx, y - ty) < 15));
		taken.push([x, y]);
		labels.push(element("text", {x, y: y + 4, "text-anchor": "middle"}, String(s.rank + 1)));
	}
	return [element("path", {class: "mark", d}), element("circle", {class: "dot", cx, cy, r: 5}), ...labels];
}

function showNodes(nodes) {
	const focused = document.activeElement, focus = focused && focused.dataset && focused.dataset.focus;
	$("nodes").replaceChildren(...nodes.map((n, i) => {
		const weight = element("input", {
			type: "number", min: "0.001", max: "1000", step: "any", "aria-label": "Weight of " + n.name, "data-focus": "w" + n.name,
		});
		weight.value = n.weight;
		weight.addEventListener("change", () =>
			change(state.nodes.map(m => m.name === n.name ? {...m, weight: Number(weight.value)} : m)));
		const remove = element("button", {
			type: "button", "aria-label": "Remove " + n.name, "data-focus": "r" + n.name,
		}, "✕");
		remove.addEventListener("click", () => change(state.nodes.filter(m => m.name !== n.name)));
		const row = element("tr", {},
			element("td", {class: "name"}, element("span", {class: "swatch " + colour(n.name)}), n.name),
			element("td", {}, n.zone), element("td", {}, weight), element("td", {class: "num"}, percent(n.share)),
			element("td", {class: "num wide"}, n.ratio.toFixed(3)), element("td", {}, remove));
		for (const type of ["pointerenter", "focusin"]) row.addEventListener(type, () => highlight(i, true));
		for (const type of ["pointerleave", "focusout"]) row.addEventListener(type, () => highlight(i, false));
		return row;
	}));
	highlight(-1, false);
	if (focus) {
		const again = [...$("nodes").querySelectorAll("[data-focus]")].find(e => e.dataset.focus === focus);
		(again || $("name")).focus(); // the button of a node that has gone was pressed
	}
}

// highlight makes the arcs of a node stand out.
function highlight(node, on) {
	$("ring").classList.toggle("dimmed", on);
	for (const p of $("ring").querySelectorAll(".arcs path")) p.classList.toggle("hot", on && Number(p.dataset.node) === node);
}

function showWalk(answer) {
	const walk = answer.walk;
	$("owner").textContent = walk ?
		`${$("key").value} → ${walk.nodes.map(i => answer.nodes[i].name).join(", ")}` : "Nothing owns a key.";
	$("walk").replaceChildren(...(walk ? walk.steps : []).map(s => {
		const name = answer.nodes[s.node].name;
		const what = s.rank === 0 ? `${name}: the owner` : s.rank > 0 ? `${name}: replica ${s.rank + 1}` :
			s.met ? `${name} again` : `${name}: its zone has one already`;
		return element("li", {}, what);
	}));
	if (walk) $("walk").prepend(element("li", {value: "0"}, `the key is at ${walk.position}`));
}

function showMoved(answer) {
	$("moved").textContent = state.history.length === 0 ? "Nothing yet: add a node, remove one, or change a weight." :
		answer.moved.length === 0 ? "Nothing moved." :
			`${percent(answer.movedShare)} of all keys moved. The outer band shows who had them before.`;
	const flows = state.history.length === 0 ? [] : answer.flows;
	$("flows").replaceChildren(...flows.map(f =>
		element("li", {}, `${percent(f.share)} from ${nobody(f.from)} to ${nobody(f.to)}`)));
}

addEventListener("DOMContentLoaded", async () => {
	const start = await (await fetch("start")).json();
	state.nodes = state.before = start.nodes;
	$("vnodes").value = start.virtualNodes;
	$("hash").append(...start.hashes.map(h => element("option", {}, h)));
	$("hash").value = start.hash;
	for (const form of document.forms) form.addEventListener("submit", e => e.preventDefault());
	for (const id of ["key", "replicas", "spread", "vnodes", "hash"]) $(id).addEventListener("input", () => ask());
	$("add").addEventListener("submit", async () => {
		const node = {name: $("name").value, weight: Number($("weight").value), zone: $("zone").value};
		await change([...state.nodes.filter(n => n.name !== node.name), node]);
		if ($("problems").textContent === "") $("name").value = "";
		$("name").focus();
	});
	$("undo").addEventListener("click", () => {
		Object.assign(state, state.history.pop());
		ask();
	});
	await ask();
	document.documentElement.dataset.ready = "yes";
});
